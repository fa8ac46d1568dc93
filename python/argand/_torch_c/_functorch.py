"""torch._C._functorch."""
from .._c_functorch import *  # noqa: F401,F403
from .._c_functorch import _add_batch_dim, _remove_batch_dim  # noqa: F401
