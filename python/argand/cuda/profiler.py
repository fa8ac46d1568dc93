"""Start and stop of recording by NVIDIA's profilers, as torch.cuda.profiler."""
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
    """Starts recording, in a profiler that was told to wait for it (nsys --capture-range=cudaProfilerApi)."""
    _ask("cuProfilerStart")


def stop():
    """Stops recording."""
    _ask("cuProfilerStop")


@contextlib.contextmanager
def profile():
    """A scope that the profiler records."""
    start()
    try:
        yield
    finally:
        stop()
