"""Meta's accelerators, which are not supported: the functions that programs call before they use them."""
from .mps import device_count, empty_cache, is_available, manual_seed, synchronize  # noqa: F401
