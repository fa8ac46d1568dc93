"""oneDNN, as torch.backends.mkldnn: it is not used."""
from .. import _switches


def is_available():
    """False."""
    return False


def flags(enabled=None):
    """A scope with another setting."""
    import sys
    return _switches.set_for_scope(sys.modules[__name__], dict(enabled=enabled))


_switches.make(__name__, {"enabled": _switches.kept("torch.backends.mkldnn.enabled", True, "it is allowed and not there")})
