"""The CPU as a device, as torch.cpu: functions for programs that are written for any device."""
import contextlib

from .._ignored import harmless
from . import amp  # noqa: F401

_ONE = "the CPU is one device, which does its work in order"


def is_available():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """The name of the device."""
    return "cpu"


@harmless(device=_ONE)
def set_device(device):
    """Accepted: there is one."""


@harmless(device=_ONE)
def synchronize(device=None):
    """Nothing is under way: operations on the CPU are done when somebody looks at their results."""


def is_initialized():
    """True."""
    return True


class Stream:
    """The order in which the CPU does its work, of which there is one."""

    @harmless(priority=_ONE)
    def __init__(self, priority=-1):
        pass

    @harmless(stream=_ONE)
    def wait_stream(self, stream):
        """Nothing is waited for."""

    @harmless(event=_ONE)
    def wait_event(self, event):
        """Nothing is waited for."""

    def record_event(self, event=None):
        """An event that has happened."""
        return event or Event()


class Event:
    """A place in that order."""

    def query(self):
        """True: what was done before it is done."""
        return True

    @harmless(stream=_ONE)
    def record(self, stream=None):
        """Nothing is kept."""

    def synchronize(self):
        """Nothing is waited for."""

    @harmless(stream=_ONE)
    def wait(self, stream=None):
        """Nothing is waited for."""


_stream = Stream()


@harmless(device=_ONE)
def current_stream(device=None):
    """The Stream."""
    return _stream


@harmless(stream=_ONE)
def stream(stream):
    """A context that changes nothing: the CPU has one stream."""
    return contextlib.nullcontext()


StreamContext = stream
