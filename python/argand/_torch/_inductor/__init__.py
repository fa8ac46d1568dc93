"""PyTorch's code generator, which Argand does not have."""
from ... import _surface
from . import config  # noqa: F401


__getattr__, __dir__ = _surface.of(__name__)
