"""Where NVIDIA's profilers begin and end to look, as torch.cuda.profiler."""
import contextlib
import ctypes

from .. import _C


def _ask(name):
    try:
        code = getattr(ctypes.CDLL("libcuda.so.1"), name)()
    except OSError:
        raise _C.DeviceError(f"{name}: there is no CUDA driver") from None
    if code:
        raise _C.DeviceError(f"{name}: the driver says {code}")


def start():
    """Begins, for a profiler that was told to wait for it (nsys --capture-range=cudaProfilerApi)."""
    _ask("cuProfilerStart")


def stop():
    """Ends."""
    _ask("cuProfilerStop")


@contextlib.contextmanager
def profile():
    """A scope that is looked at."""
    start()
    try:
        yield
    finally:
        stop()
