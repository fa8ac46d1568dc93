"""cuDNN, as torch.backends.cudnn.  `enabled`, `benchmark` and `deterministic` are accepted: algorithms are chosen by what
measures fastest among those that give the same bits every time."""
from .. import _C
from . import _switches

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False


def is_available():
    """Whether cuDNN is there."""
    return (version() or 0) > 0


def version():
    """cuDNN's version (91900: 9.19), None without it."""
    try:
        return _C.cuda._cudnn_version() or None
    except _C.DeviceError:
        return None


def flags(enabled=None, benchmark=None, benchmark_limit=None, deterministic=None, allow_tf32=None):
    """A scope with other settings."""
    import sys
    return _switches.set_for_scope(sys.modules[__name__], dict(
        enabled=enabled, benchmark=benchmark, benchmark_limit=benchmark_limit, deterministic=deterministic,
        allow_tf32=allow_tf32))


_switches.make(__name__, {"allow_tf32": property(
    lambda _: _C._allow_tf32_cudnn(), lambda _, on: _C._set_allow_tf32_cudnn(bool(on)),
    doc="Whether convolutions of float32 may be TF32's.")})
