"""torch._VF: the name by which PyTorch's modules call ops."""
from .. import _C


def __getattr__(name):
    return getattr(_C, name)


def __dir__():
    return dir(_C)
