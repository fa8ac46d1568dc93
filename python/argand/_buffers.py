"""Tensors over the memory of objects with the buffer protocol."""
from . import _C
from ._dispatch import StateOff
from ._ignored import warn_once


def over(buffer):
    """A tensor of the bytes of a buffer: its memory where that may be written, a copy else."""
    view = memoryview(buffer).cast("B")
    if view.readonly or not view.nbytes:
        return _C._from_bytes(bytes(view), _C.uint8)
    import ctypes  # takes longer than all else here
    memory = (ctypes.c_char * view.nbytes).from_buffer(view)
    return _C.from_numpy(_Memory(ctypes.addressof(memory), view.nbytes, memory))


class _Memory:
    """Bytes at an address, which `owner` keeps, in the way in which arrays are described."""

    def __init__(self, address, nbytes, owner):
        self.owner = owner
        self.description = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}

    @property
    def __array_interface__(self):
        return self.description


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor over the memory of an object with the buffer protocol: writing one writes the other.  It is a copy if the
    bytes are read-only, or if elements would not lie at multiples of their size."""
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("frombuffer: object does not implement Python buffer protocol.") from None
    size, nbytes = dtype.itemsize, view.nbytes
    if nbytes == 0 or count == 0:
        raise ValueError(f"frombuffer: both buffer length ({nbytes}) and count ({count}) must not be 0")
    if not 0 <= offset < nbytes:
        raise ValueError(f"frombuffer: offset ({offset} bytes) must be non-negative and no greater than buffer length ({nbytes} bytes) - 1")
    if count < 0 and (nbytes - offset) % size:
        raise ValueError(f"frombuffer: buffer length ({nbytes - offset} bytes) after offset ({offset} bytes) must be a multiple of element "
                         f"size ({size})")
    if count < 0:
        count = (nbytes - offset) // size
    if offset + count * size > nbytes:
        raise ValueError(f"frombuffer: requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater "
                         f"than actual buffer length ({nbytes} bytes)")
    if view.readonly:
        warn_once("The given buffer is not writable. Tensors are written to: this one is a copy of it.")
    with StateOff():  # as in PyTorch, where a FakeTensorMode leaves it as it is
        elements = over(view.cast("B")[offset:offset + count * size])
        misplaced = elements.data_ptr() % (size // 2 if dtype.is_complex else size)
        return (elements.clone() if misplaced else elements).view(dtype).requires_grad_(requires_grad)
