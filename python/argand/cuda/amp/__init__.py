"""Mixed precision on CUDA devices: torch.amp with the device filled in."""
import warnings

from ... import _C, _surface, amp
from ...amp import autocast_mode as _modes


class autocast(amp.autocast):
    """amp.autocast("cuda", ...)."""

    def __init__(self, enabled=True, dtype=_C.float16, cache_enabled=True):
        warnings.warn('`torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast(\'cuda\', args...)` instead.',
                      FutureWarning, stacklevel=2)
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """amp.GradScaler("cuda", ...)."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        warnings.warn('`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler(\'cuda\', args...)` instead.',
                      FutureWarning, stacklevel=2)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """amp.custom_fwd(device_type="cuda")."""
    warnings.warn("`torch.cuda.amp.custom_fwd(args...)` is deprecated. Please use `torch.amp.custom_fwd(args..., device_type='cuda')` instead.",
                  FutureWarning, stacklevel=2)
    return _modes.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd=None):
    """amp.custom_bwd(device_type="cuda")."""
    warnings.warn("`torch.cuda.amp.custom_bwd(args...)` is deprecated. Please use `torch.amp.custom_bwd(args..., device_type='cuda')` instead.",
                  FutureWarning, stacklevel=2)
    return _modes.custom_bwd(bwd, device_type="cuda")


def amp_definitely_not_available():
    """Whether there is no GPU."""
    return not _C.cuda.is_available()


__getattr__, __dir__ = _surface.of(__name__)
