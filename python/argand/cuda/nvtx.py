"""Ranges and marks for NVIDIA's profilers; without their library nothing happens."""
import contextlib
import ctypes
import functools


@functools.cache
def _library():
    for name in ("libnvToolsExt.so.1", "libnvToolsExt.so"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.nvtxRangeStartA.restype = ctypes.c_uint64
        library.nvtxRangeEnd.argtypes = [ctypes.c_uint64]
        return library
    return None


def range_push(msg):
    """Begins a range within those that have begun; returns how deep it is, from 0."""
    library = _library()
    return library.nvtxRangePushA(str(msg).encode()) if library else -1


def range_pop():
    """Ends the last range that range_push() has begun; returns how deep it was."""
    library = _library()
    return library.nvtxRangePop() if library else -1


def range_start(msg):
    """Begins a range that may overlap others; returns what range_end() takes."""
    library = _library()
    return library.nvtxRangeStartA(str(msg).encode()) if library else 0


def range_end(range_id):
    """Ends a range of range_start()."""
    library = _library()
    if library:
        library.nvtxRangeEnd(range_id)


def mark(msg):
    """Marks a moment."""
    library = _library()
    if library:
        library.nvtxMarkA(str(msg).encode())


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    """A scope, or decorated function, as a range; the message is formatted with the arguments."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
