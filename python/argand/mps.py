"""Apple's GPUs, which are not supported: the functions that programs call before they use them.  As in PyTorch without MPS, functions
that need such a GPU raise RuntimeError."""
from ._ignored import harmless
from . import _surface


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


@harmless(seed="there is no generator to seed, and no number is drawn from one")
def manual_seed(seed):
    """There is no generator to seed."""


def _without_backend(name, work):
    def refuse(*_, **__):
        raise RuntimeError(f"Cannot execute {work}() without MPS backend.")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises RuntimeError: there is no MPS backend."
    return refuse


globals().update({name: _without_backend(name, work) for name, work in {
    "synchronize": "deviceSynchronize", "empty_cache": "emptyCache", "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory", "recommended_max_memory": "getRecommendedMaxMemory",
    "set_per_process_memory_fraction": "setMemoryFraction", "seed": "getDefaultGenerator", "get_rng_state": "getDefaultGenerator",
    "set_rng_state": "getDefaultGenerator"}.items()})


__getattr__, __dir__ = _surface.of(__name__)
