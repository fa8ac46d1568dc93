"""The CPU as a device: what programs that are written for any device call on it."""
import contextlib


def is_available():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """Its name."""
    return "cpu"


def set_device(device):
    """Accepted: there is one."""


def synchronize(device=None):
    """Nothing is under way: operations on the CPU are done when somebody looks at their results."""


def stream(stream):
    """A context that changes nothing: the CPU has one stream."""
    return contextlib.nullcontext()
