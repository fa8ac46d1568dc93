"""Tools for training programs, as torch.utils."""
from .. import _surface


def set_module(obj, mod):
    """Says that obj is of the module of this name."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


__getattr__, __dir__ = _surface.of(__name__)
