"""Settings and facts of torch that few programs ask for, loaded at first use."""
from . import _C
from ._device_names import _get_device_module
from ._ignored import harmless
from ._switches import checked, checked_argument
from .amp.autocast_mode import is_autocast_enabled, set_autocast_dtype, set_autocast_enabled
from .autograd.anomaly_mode import set_detect_anomaly

has_lapack = has_spectral = True


def is_autocast_cpu_enabled():
    """Whether autocast is on for the CPU."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled):
    """Autocast on or off for the CPU."""
    set_autocast_enabled("cpu", checked_argument(enabled, "set_autocast_cpu_enabled", "enabled", 1))


def set_autocast_cpu_dtype(dtype):
    """The dtype that products are cast to on the CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype):
    """The dtype that products are cast to on GPUs."""
    set_autocast_dtype("cuda", dtype)


def is_anomaly_enabled():
    """Whether backward says where in the program the op was called that fails: see autograd.set_detect_anomaly."""
    return _C._is_watched()


def is_anomaly_check_nan_enabled():
    """Whether backward looks for NaN: see autograd.set_detect_anomaly."""
    return _C._is_anomaly_enabled()


def set_anomaly_enabled(enabled, check_nan=True):
    """As autograd.set_detect_anomaly, with no scope."""
    set_detect_anomaly(enabled, check_nan)


def set_warn_always(b, /):
    """Whether what the library warns of once, it warns of each time.  Python's filters may still show a text once."""
    _C._set_warns_always(checked(b, "torch.set_warn_always()"))


def is_warn_always_enabled():
    """Whether set_warn_always() switched repeated warnings on."""
    return _C._warns_always()


def get_device_module(device=None):
    """torch.cuda for a GPU and torch.cpu for the CPU; for None that of the GPU where there is one."""
    if device is None:
        device = "cuda" if _C.cuda.is_available() else "cpu"
    return _get_device_module(_C.device(device).type)


def is_vulkan_available():
    """False."""
    return False


is_autocast_ipu_enabled = is_autocast_xla_enabled = is_vulkan_available


@harmless(input="a tensor is one process's")
def is_distributed(input):
    """False: a tensor is one process's."""
    return False


def compiled_with_cxx11_abi():
    """True."""
    return True
