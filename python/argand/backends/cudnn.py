"""cuDNN, as torch.backends.cudnn."""
import functools

from .. import _C, _float32_precision, _switches


def is_available():
    """Whether cuDNN is there."""
    return (version() or 0) > 0


def version():
    """cuDNN's version (91900: 9.19), None without it."""
    try:
        return _C.cuda._cudnn_version() or None
    except _C.DeviceError:
        return None


def is_acceptable(tensor):
    """Whether cuDNN may compute with a tensor: it is enabled and there, the tensor is on a GPU, of float16, bfloat16, float32 or float64."""
    of_cudnn = (_C.float16, _C.bfloat16, _C.float32, _C.float64)
    return bool(_C._cudnn_enabled() and tensor.is_cuda and tensor.dtype in of_cudnn and is_available())


def flags(enabled=None, benchmark=None, benchmark_limit=None, deterministic=None, allow_tf32=None,
          fp32_precision=None):
    """A scope with other settings."""
    import sys
    return _switches.set_for_scope(sys.modules[__name__], dict(
        enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
        allow_tf32=allow_tf32, fp32_precision=fp32_precision))


_NAME = "torch.backends.cudnn."
_CHOICE = "algorithms are always chosen by what measures fastest among those that give the same bits every time"
conv = _switches.group({"fp32_precision": _switches.precision("conv")})
rnn = _switches.group({"fp32_precision": _switches.fixed_precision(
    _NAME + "rnn", functools.partial(_float32_precision.get, "matmul"), "recurrent networks multiply as torch.backends.cuda.matmul says")})
_switches.make(__name__, {
    "fp32_precision": _switches.precision("cuda"),
    "enabled": _switches.honoured(_NAME + "enabled", _C._cudnn_enabled, _C._set_cudnn_enabled,
                                  "Whether convolutions and attention may be cuDNN's; without it they run on kernels that are slower."),
    "allow_tf32": _switches.honoured(_NAME + "allow_tf32", _C._allow_tf32_cudnn, functools.partial(_float32_precision.allow_tf32, "conv"),
                                     "Whether convolutions of float32 may be TF32's."),
    "benchmark": _switches.kept(_NAME + "benchmark", False, _CHOICE),
    "benchmark_limit": _switches.kept(_NAME + "benchmark_limit", 10, _CHOICE, int),
    "deterministic": _switches.kept(_NAME + "deterministic", False, _CHOICE)})
