"""Mixed precision, as torch.amp."""
from .autocast_mode import (autocast, autocast_decorator, custom_bwd, custom_fwd,  # noqa: F401
                            is_autocast_available)
from .grad_scaler import GradScaler  # noqa: F401
