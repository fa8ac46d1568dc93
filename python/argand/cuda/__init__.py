"""CUDA devices, as torch.cuda.  Without one is_available() is False and device_count() 0; what needs a device says why
there is none (RuntimeError)."""
from typing import Callable  # noqa: F401 -- for annotations

from .. import _C, _surface
from .._plain_functions import plain
from . import nvtx  # noqa: F401
from .graphs import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing  # noqa: F401
from .memory import (_record_memory_history, _snapshot, empty_cache, max_memory_allocated,  # noqa: F401
                     max_memory_cached, max_memory_reserved, mem_get_info, memory_allocated, memory_cached,
                     memory_reserved, memory_snapshot, memory_stats, memory_summary, reset_accumulated_memory_stats,
                     reset_max_memory_allocated, reset_max_memory_cached, reset_peak_memory_stats,
                     set_per_process_memory_fraction, get_per_process_memory_fraction)
from .random import (get_rng_state, get_rng_state_all, initial_seed, manual_seed, manual_seed_all, seed,  # noqa: F401
                     seed_all, set_rng_state, set_rng_state_all)
from .streams import (Event, ExternalStream, Stream, StreamContext, current_stream, default_stream,  # noqa: F401
                      index_of as _index_of, set_stream, stream)

is_available: "Callable[[], bool]"
device_count: "Callable[[], int]"
current_device: "Callable[[], int]"
is_available, device_count, current_device = (plain(f, __name__) for f in (_C.cuda.is_available, _C.cuda.device_count, _C.cuda.current_device))
OutOfMemoryError = _C.OutOfMemoryError
_CudaDeviceProperties = _C.cuda._CudaDeviceProperties
has_half = True
_properties = {}


def init():
    """Nothing is left to do, if there is a device; RuntimeError otherwise."""
    _C.cuda.current_device()


def is_initialized() -> bool:
    """Whether devices can be used: they are set up with the first use."""
    return is_available()


def synchronize(device=None):
    """Waits for all work of a device, the current one by default."""
    _C.cuda.synchronize(_index_of(device))


def set_device(device):
    """Makes a device the current one; of a negative number nothing comes."""
    index = _index_of(device)
    if index is not None and index >= 0:
        _C.cuda.set_device(index)


def get_device_name(device=None) -> str:
    """The name of a device."""
    return _C.cuda.get_device_name(_index_of(device))


def get_device_properties(device=None):
    """name, major, minor, total_memory, multi_processor_count, ... of a device; the same object each time."""
    index = _index_of(device)
    index = current_device() if index is None else index
    if index not in _properties:
        _properties[index] = _C.cuda.get_device_properties(index)
    return _properties[index]


def get_device_capability(device=None) -> "tuple[int, int]":
    """(major, minor) of a device's compute capability."""
    return tuple(_C.cuda.get_device_capability(_index_of(device)))


def can_device_access_peer(device, peer_device) -> bool:
    """Whether a device can read the memory of another."""
    device, peer = _index_of(device), _index_of(peer_device)
    return _C.cuda.can_device_access_peer(device, peer)


def is_bf16_supported(including_emulation=True) -> bool:
    """Whether there is a device that computes with bfloat16: those of compute capability 8.0 and later do it natively,
    earlier ones by float32."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def get_arch_list():
    """Kernels are compiled for the device at hand: its architecture alone ("sm_90"); empty without a device."""
    return sorted({"sm_%d%d" % get_device_capability(i) for i in range(device_count())})


def get_gencode_flags():
    """The nvcc options of get_arch_list()."""
    return " ".join(f"-gencode compute=compute_{a[3:]},code={a}" for a in get_arch_list())


def ipc_collect():
    """Gives back memory that other processes sent and nobody here holds any more, and what other processes no longer hold."""
    import sys
    if (gpu_memory := sys.modules.get("argand.multiprocessing.gpu_memory")) is not None:
        gpu_memory.collect()


class device:
    """A scope in which a device is the current one; with None, or a negative number, nothing changes."""

    def __init__(self, device):
        self.idx = _index_of(device)

    def __enter__(self):
        self._before = None
        if self.idx is not None and self.idx >= 0:
            self._before = current_device()
            _C.cuda.set_device(self.idx)

    def __exit__(self, *_):
        if self._before is not None:
            _C.cuda.set_device(self._before)
        return False


class device_of(device):
    """A scope in which the device of a tensor is the current one; with a tensor on the CPU nothing changes."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else None)


from . import amp  # noqa: E402,F401 -- argand.amp asks is_available()

__getattr__, __dir__ = _surface.of(__name__)  # last: `from . import amp` would ask it for amp
