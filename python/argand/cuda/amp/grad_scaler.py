"""GradScaler on CUDA devices, under its name in torch.cuda.amp."""
from ...amp.grad_scaler import OptState  # noqa: F401
from . import GradScaler  # noqa: F401

__all__ = ["GradScaler", "OptState"]
