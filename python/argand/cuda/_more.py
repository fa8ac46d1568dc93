"""Rarely used names of torch.cuda, loaded at first use."""
from .. import _C
from .._typed_storage import storages
from .._refused import refused, refused_class
from .._tensor import typed_tensor
from . import nccl, profiler, sparse  # noqa: F401
from .graphed import make_graphed_callables  # noqa: F401
from .random import _generator
from .streams import index_of

__all__ = ["check_error", "CudaError", "DeferredCudaCallError", "AcceleratorError", "has_magma", "memory_usage", "utilization", "temperature",
           "power_draw", "clock_rate", "device_memory_used", "list_gpu_processes", "get_sync_debug_mode", "set_sync_debug_mode",
           "is_tf32_supported", "get_allocator_backend", "get_stream_from_external", "default_generators", "make_graphed_callables", "nccl",
           "profiler", "sparse"]


class DeferredCudaCallError(Exception):
    """What PyTorch raises for calls before there was a device."""


CudaError = AcceleratorError = _C.DeviceError
has_magma = False


# ---- what the driver's management library measures


def _nvml(device):
    """(pynvml, the handle of a device)"""
    try:
        import pynvml
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("pynvml does not seem to be installed or it can't be imported.") from error
    pynvml.nvmlInit()
    index = index_of(device)
    index = _C.cuda.current_device() if index is None else index
    uuid = getattr(_C.cuda.get_device_properties(index), "uuid", None)
    return pynvml, pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}") if uuid else pynvml.nvmlDeviceGetHandleByIndex(index)


def memory_usage(device=None):
    """The percent of the last second in which memory was read or written."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetUtilizationRates(handle).memory


def utilization(device=None):
    """The percent of the last second in which kernels ran."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetUtilizationRates(handle).gpu


def temperature(device=None):
    """Degrees Celsius."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)


def power_draw(device=None):
    """Milliwatts."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetPowerUsage(handle)


def clock_rate(device=None):
    """MHz of the multiprocessors."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)


def device_memory_used(device=None):
    """Bytes in use on the device, by all processes."""
    pynvml, handle = _nvml(device)
    return pynvml.nvmlDeviceGetMemoryInfo(handle).used


def list_gpu_processes(device=None):
    """A text of the processes on a device and their memory."""
    pynvml, handle = _nvml(device)
    index = index_of(device)
    lines = [f"GPU:{_C.cuda.current_device() if index is None else index}"]
    found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    lines += [f"process {p.pid:>10d} uses {(p.usedGpuMemory or 0) / 2**20:>12.3f} MB GPU memory" for p in found]
    return "\n".join(lines if found else [*lines, "no processes are running"])


# ---- settings


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


def __getattr__(name):
    if name == "default_generators":
        return tuple(_generator(i) for i in range(_C.cuda.device_count()))
    raise AttributeError(name)


for _name, _dtype in {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8",
                      "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool"}.items():
    globals()[_name + "Tensor"] = typed_tensor(_name + "Tensor", getattr(_C, _dtype), "cuda")
    __all__.append(_name + "Tensor")

globals().update(storages("cuda"))
__all__ += storages("cuda")


# ---- what is not there


_NOT = "the library manages memory, streams and kernels by itself"
for _name in ("cudart", "current_blas_handle", "current_solver_handle", "caching_allocator_alloc", "caching_allocator_delete",
              "caching_allocator_enable", "change_current_allocator", "use_mem_pool", "jiterator",
              "host_memory_stats", "host_memory_stats_as_nested_dict", "reset_peak_host_memory_stats",
              "reset_accumulated_host_memory_stats", "caching_allocator_disabled",
              "memory_stats_as_nested_dict"):
    globals()[_name] = refused("torch.cuda." + _name, _NOT)
    __all__.append(_name)
for _name in ("CUDAPluggableAllocator", "MemPool", "GreenContext"):
    globals()[_name] = refused_class("torch.cuda." + _name, _NOT)
    __all__.append(_name)
del _name, _dtype


def check_error(res):
    """CudaError for a code of CUDA's that is not 0."""
    if res != 0:
        from . import CudaError
        raise CudaError(f"CUDA error {int(res)}")
