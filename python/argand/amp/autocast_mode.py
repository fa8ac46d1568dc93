"""Autocast: ops choose between float32 and a shorter dtype."""
import functools
import warnings

from .. import _C
from .._switches import checked_argument


_nowhere = {"mps": [False, _C.float16], "xpu": [False, _C.float16]}  # [is on, dtype]: there are no such tensors whose ops would cast


def is_autocast_available(device_type):
    """Whether autocast is there for a device type."""
    return device_type in ("cpu", "cuda")


def is_autocast_enabled(device_type="cuda"):
    """Whether autocast is on for a device type."""
    return _nowhere[device_type][0] if device_type in _nowhere else _C._is_autocast_enabled(device_type)


def get_autocast_dtype(device_type):
    """The dtype that products are cast to on a device type."""
    return _nowhere[device_type][1] if device_type in _nowhere else _C._get_autocast_dtype(device_type)


def get_autocast_gpu_dtype():
    """The dtype that products are cast to on GPUs."""
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype():
    """The dtype that products are cast to on the CPU."""
    return get_autocast_dtype("cpu")


def set_autocast_enabled(device_type, enabled):
    """Autocast on or off for a device type; autocast() does it for a scope."""
    checked_argument(enabled, "set_autocast_enabled", "enabled", 2)
    if device_type in _nowhere:
        _nowhere[device_type][0] = enabled
    else:
        _C._set_autocast_enabled(device_type, enabled)


def set_autocast_dtype(device_type, dtype):
    """The dtype that products are cast to on a device type."""
    if device_type in _nowhere:
        _nowhere[device_type][1] = dtype
    else:
        _C._set_autocast_dtype(device_type, dtype)


def autocast_decorator(autocast_instance, function):
    """`function` in the scope of autocast_instance."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        with autocast_instance:
            return function(*args, **kwargs)
    return call


class autocast:
    """A scope, or decorator, in which ops of a device cast their inputs: products to `dtype` (the device's own if None),
    what needs the range to float32.  Casts of parameters are kept until the outermost scope ends (cache_enabled)."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = _C.device(device_type).type
        if not is_autocast_available(self.device) and self.device not in _nowhere:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{self.device}'")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        if enabled and self.device == "cuda" and not _C.cuda.is_available():
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        if enabled and self.fast_dtype not in (_C.bfloat16, _C.float16):
            warnings.warn(f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                          f"{self.device.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                          stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._cache_enabled = _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._before = []  # one instance may be entered several times, as a decorator of a recursive function is

    def __enter__(self):
        self._before.append((is_autocast_enabled(self.device), get_autocast_dtype(self.device), _C.is_autocast_cache_enabled()))
        set_autocast_enabled(self.device, self._enabled)
        if self._enabled:
            set_autocast_dtype(self.device, self.fast_dtype)
        _C.autocast_increment_nesting()
        _C.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *_):
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        enabled, dtype, cache_enabled = self._before.pop()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        _C.set_autocast_cache_enabled(cache_enabled)
        return False

    def __call__(self, function):
        return autocast_decorator(self, function)


def _cast(value, device_type, dtype):
    if isinstance(value, _C.Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype is not _C.float64
        return value.to(dtype) if fits else value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cast(v, device_type, dtype) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates the forward() of an autograd.Function: with cast_inputs, it runs without autocast, and floating-point tensors
    come in that dtype; else backward() will run as it does (see custom_bwd)."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        ctx._dtype = _C._get_autocast_dtype(device_type)
        enabled = _C._is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
    return forward


def custom_bwd(bwd=None, *, device_type):
    """Decorates the backward() of an autograd.Function: it runs with autocast as forward() did (see custom_fwd)."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)
    return backward
