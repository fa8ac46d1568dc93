"""The ops themselves, under a name by which modules of PyTorch's call them."""
from . import _C


def __getattr__(name):
    return getattr(_C, name)
