"""Intel's GPUs, of which there are none: what programs ask before they use them."""
from .mps import device_count, empty_cache, is_available, manual_seed, synchronize  # noqa: F401


def is_bf16_supported():
    """False."""
    return False


def is_current_stream_capturing():
    """False."""
    return False
