"""What the driver's management library measures, by the package pynvml."""
from .. import _C
from .streams import index_of


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
