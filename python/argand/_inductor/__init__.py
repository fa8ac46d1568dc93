"""PyTorch's code generator, which is not there: torch.compile gives back what it is given."""
from . import config  # noqa: F401
