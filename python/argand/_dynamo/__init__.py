"""What programs say to torch._dynamo: the marks of torch.compiler, and options of a compiler that is not there."""
import types

from ..compiler import allow_in_graph, disable, is_compiling, reset  # noqa: F401
from . import utils  # noqa: F401

config = types.SimpleNamespace()  # options are kept and read by nobody
