"""PyTorch's code generator, which Argand does not have."""
from .._named_modules import names_of as _names_of
from . import config  # noqa: F401


__getattr__ = _names_of(__name__)
