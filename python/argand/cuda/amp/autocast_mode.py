"""autocast on CUDA devices, under its name in torch.cuda.amp."""
from . import autocast, custom_bwd, custom_fwd  # noqa: F401

__all__ = ["autocast", "custom_fwd", "custom_bwd"]
