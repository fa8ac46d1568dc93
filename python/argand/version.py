"""Versions, as torch.version.  `cuda` is that of the CUDA backend's build ("13.0"), None where there is no backend."""
from . import _C, _surface

__version__ = _C.__version__
debug = False
git_version = ""
hip = rocm = xpu = None


def _cuda_of_the_backend():
    # Asked for late: finding the backend loads it.
    try:
        number = _C.cuda._runtime_version()
    except _C.DeviceError:
        return None
    return f"{number // 1000}.{number % 1000 // 10}"


__getattr__, __dir__ = _surface.of(__name__)
