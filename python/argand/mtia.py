"""Meta's accelerators, of which there are none: what programs ask before they use them."""
from .mps import device_count, empty_cache, is_available, manual_seed, synchronize  # noqa: F401
