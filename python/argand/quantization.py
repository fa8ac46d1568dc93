"""torch.ao.quantization under its older name."""
from .ao.quantization import *  # noqa: F401,F403
