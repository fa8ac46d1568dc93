"""The memory of CUDA devices, as torch.cuda.memory.  Without a device the counters are 0 or empty."""
import collections
import json

from .. import _C, _surface
from .._ignored import ignored
from .streams import index_of


def _number(name, documentation):
    ask = getattr(_C.cuda, name)

    def function(device=None):
        return ask(index_of(device)) if _C.cuda.is_available() else 0
    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation
    return function


memory_allocated = _number("memory_allocated", "Bytes that tensors have now.")
max_memory_allocated = _number("max_memory_allocated", "The most bytes that tensors have had.")
memory_reserved = _number("memory_reserved", "Bytes taken from the device, in use or kept for what comes.")
max_memory_reserved = _number("max_memory_reserved", "The most bytes that were taken from the device.")
memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def memory_stats(device=None):
    """All counters: {"allocated_bytes.all.current": ..., ...}; empty without a device."""
    if not _C.cuda.is_available():
        return collections.OrderedDict()
    return collections.OrderedDict(sorted(_C.cuda.memory_stats(index_of(device)).items()))


def reset_peak_memory_stats(device=None):
    """Resets the peaks to the current values."""
    _C.cuda.reset_peak_memory_stats(index_of(device))


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device=None):
    """Resets the counters of allocated and freed memory."""
    _C.cuda.reset_accumulated_memory_stats(index_of(device))


def empty_cache():
    """Gives memory that nothing uses back to the device."""
    if _C.cuda.is_available():
        _C.cuda.empty_cache()


def mem_get_info(device=None):
    """(free, total) bytes of the device."""
    return _C.cuda.mem_get_info(index_of(device))


@ignored(abbreviated="the table has one form")
def memory_summary(device=None, abbreviated=False):
    """The counters, and the largest holders of memory, as a table."""
    return _C.cuda._memory_summary(index_of(device))


def memory_snapshot(device=None):
    """Every segment with its blocks, as a list of dicts."""
    return json.loads(_C.cuda._memory_snapshot(index_of(device)))["segments"] if _C.cuda.is_available() else []


_NO_STACKS = "allocations are kept with their sizes and times, without stacks"


@ignored(context=_NO_STACKS, stacks=_NO_STACKS, compile_context=_NO_STACKS)
def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=100000, device=None, clear_history=False,
                           compile_context=False):
    """Keeps the last allocations for _snapshot(); None stops it.  clear_history: those kept so far are forgotten."""
    if clear_history:
        _C.cuda._record_memory_history(False, max_entries, index_of(device))
    _C.cuda._record_memory_history(enabled is not None and enabled is not False, max_entries, index_of(device))


def _snapshot(device=None):
    """Segments, blocks and what was recorded, as dicts."""
    return json.loads(_C.cuda._memory_snapshot(index_of(device)))


def set_per_process_memory_fraction(fraction, device=None):
    """Limits allocation to this fraction (0 to 1) of the device's memory."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if fraction < 0 or fraction > 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C.cuda.set_per_process_memory_fraction(fraction, index_of(device))


def get_per_process_memory_fraction(device=None):
    """The fraction of the device's memory that may be allocated: 1.0 unless set_per_process_memory_fraction() chose another."""
    return _C.cuda.get_per_process_memory_fraction(index_of(device))


__getattr__, __dir__ = _surface.of(__name__)
