"""Tensors exchanged with other libraries by DLPack, without copies."""
from .._functions import from_dlpack  # noqa: F401


def to_dlpack(tensor):
    """A capsule with the tensor's memory, for from_dlpack of any library; to be taken once."""
    return tensor.__dlpack__()
