"""Methods of other classes of the extension module: devices, layouts and memory formats."""
import threading

from .. import _C


class _Devices(threading.local):
    """The devices before those whose scopes this thread is in."""

    def __init__(self):
        self.before = []


_devices = _Devices()


class Devices:
    """A device as a scope, and as a decorator."""

    def __enter__(self):
        """Tensors are made on this device, unless their maker is told another, until the end of the scope."""
        _devices.before.append(_C._get_default_device())
        _C._set_default_device(self)
        return self

    def __exit__(self, *_):
        """The device before."""
        _C._set_default_device(_devices.before.pop())

    def __call__(self, function):
        """The function, which makes its tensors on this device."""
        from ..utils._device import set_device
        return set_device(self)(function)


class Names:
    """The name as the text."""

    def __repr__(self):
        return f"torch.{self.name}"

    __str__ = __repr__
