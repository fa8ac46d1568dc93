"""Versions, as torch.version.  `cuda` is that of the CUDA backend's build ("13.0"), None where there is no backend."""
from . import _C

__version__ = _C.__version__
debug = False
git_version = ""
hip = rocm = xpu = None


def __getattr__(name):
    if name != "cuda":
        raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
    # Asked for late: finding the backend loads it.
    try:
        number = _C.cuda._runtime_version()
    except _C.DeviceError:
        return None
    return f"{number // 1000}.{number % 1000 // 10}"
