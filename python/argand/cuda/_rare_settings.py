"""Settings and facts of torch.cuda that few programs ask for, loaded at first use."""
from .. import _C
from .random import _generator

CudaError = AcceleratorError = _C.DeviceError
has_magma = False


class DeferredCudaCallError(Exception):
    """What PyTorch raises for calls before there was a device."""


def check_error(res):
    """CudaError for a code of CUDA's that is not 0."""
    if res != 0:
        raise CudaError(f"CUDA error {int(res)}")


def get_sync_debug_mode():
    """0: nothing is said when the host waits for a device."""
    return 0


def set_sync_debug_mode(debug_mode):
    """0 ("default"); others raise NotImplementedError."""
    if debug_mode not in (0, "default"):
        raise NotImplementedError(f"torch.cuda.set_sync_debug_mode({debug_mode!r}): nothing watches for the host's waiting")


def is_tf32_supported():
    """Whether there is a device of compute capability 8.0 or later."""
    return _C.cuda.is_available() and _C.cuda.get_device_capability(None)[0] >= 8


def get_allocator_backend():
    """"native"."""
    return "native"


def get_stream_from_external(data_ptr, device=None):
    """The stream of another library, by its address."""
    from .streams import ExternalStream
    return ExternalStream(data_ptr, device)


def default_generators():
    """The generators of all devices."""
    return tuple(_generator(i) for i in range(_C.cuda.device_count()))
