"""oneDNN, as torch.backends.mkldnn."""
from . import _switches

enabled = True  # accepted: it is used where it is built in and faster


def is_available():
    """Whether products can go through oneDNN."""
    return True


def flags(enabled=None):
    """A scope with another setting."""
    import sys
    return _switches.set_for_scope(sys.modules[__name__], dict(enabled=enabled))
