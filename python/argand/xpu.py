"""Intel's GPUs, which are not supported: the functions that programs call before they use them."""
from ._named_modules import names_of as _names_of
from .mps import device_count, empty_cache, is_available, manual_seed, synchronize  # noqa: F401

__path__ = []  # PyTorch has modules below it: see _named_modules.py
default_generators = ()


def is_bf16_supported():
    """False."""
    return False


def is_current_stream_capturing():
    """False."""
    return False


__getattr__ = _names_of(__name__)
