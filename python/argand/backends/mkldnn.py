"""oneDNN, as torch.backends.mkldnn: it is not used."""
from .. import _switches


def is_available():
    """False."""
    return False


def flags(enabled=None, deterministic=None, allow_tf32=None, fp32_precision=None):
    """A scope with other settings."""
    import sys
    return _switches.set_for_scope(sys.modules[__name__], dict(
        enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision))


_NAME, _WHY = "torch.backends.mkldnn", "oneDNN is not there, and the CPU computes in float32"


def _precision(name):
    return _switches.fixed_precision(name, lambda: "none", _WHY)


conv, matmul, rnn = (_switches.group({"fp32_precision": _precision(f"{_NAME}.{name}")}) for name in ("conv", "matmul", "rnn"))
_switches.make(__name__, {
    "enabled": _switches.kept(_NAME + ".enabled", True, "it is allowed and not there"),
    "deterministic": _switches.kept(_NAME + ".deterministic", False, "the CPU gives the same bits every time"),
    "allow_tf32": _switches.fixed(_NAME + ".allow_tf32", None, _WHY, same=(False,)),
    "fp32_precision": _precision(_NAME)})
