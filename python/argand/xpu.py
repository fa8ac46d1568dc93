"""Intel's GPUs, which are not supported: the functions that programs call before they use them."""
from . import _surface
from .mps import device_count, empty_cache, is_available, manual_seed, synchronize  # noqa: F401

__path__ = []  # PyTorch has modules below it: argand/_surface/xpu.txt has them
default_generators = ()


def is_bf16_supported():
    """False."""
    return False


def is_current_stream_capturing():
    """False."""
    return False


__getattr__, __dir__ = _surface.of(__name__)
