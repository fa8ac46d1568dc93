"""The accelerator, as torch.accelerator: CUDA, if there is a GPU."""
from . import _C, cuda
from ._ignored import harmless

__path__ = []  # PyTorch has modules below it: argand/_surface/accelerator.txt has them


def is_available():
    """Whether there is a GPU."""
    return cuda.is_available()


@harmless(check_available="one that is not there is never named")
def current_accelerator(check_available=False):
    """device(type='cuda'); None where there is no GPU."""
    return _C.device("cuda") if is_available() else None


def device_count():
    """How many GPUs there are."""
    return cuda.device_count()


def current_device_index():
    """The index of the current GPU."""
    return cuda.current_device()


def set_device_index(device):
    """Makes a GPU, given by its index or as a device, the current one."""
    cuda.set_device(device)


def current_stream(device=None):
    """The current stream of a GPU, by default of the current GPU."""
    return cuda.current_stream(device)


def synchronize(device=None):
    """Waits until all work of a GPU, by default of the current one, is done."""
    if is_available():
        cuda.synchronize(device)


def empty_cache():
    """Gives memory that no tensor uses back to the driver."""
    if is_available():
        cuda.empty_cache()


current_device_idx, set_device_idx = current_device_index, set_device_index


def set_stream(stream):
    """Makes a stream, and its GPU, the current ones."""
    cuda.set_stream(stream)


def device_index(device, /):
    """A scope in which a GPU is the current one; with None or a negative index nothing changes."""
    return cuda.device(device)


def empty_host_cache():
    """Does nothing: page-locked memory is not cached."""


def get_memory_info(device_index=None, /):
    """(free, total) bytes of a GPU."""
    return cuda.mem_get_info(device_index)


memory_allocated, max_memory_allocated = cuda.memory_allocated, cuda.max_memory_allocated
memory_reserved, max_memory_reserved, memory_stats = cuda.memory_reserved, cuda.max_memory_reserved, cuda.memory_stats


def reset_peak_memory_stats(device_index=None, /):
    """Resets the peaks to the current values."""
    if is_available():
        cuda.reset_peak_memory_stats(device_index)


def reset_accumulated_memory_stats(device_index=None, /):
    """Resets the counters of allocated and freed memory."""
    if is_available():
        cuda.reset_accumulated_memory_stats(device_index)
