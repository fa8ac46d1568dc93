"""The scope of a device, by the name that packages take."""
from .. import _C
from .._contextlib import _DecoratorContextManager
from ..overrides import BaseTorchFunctionMode


class DeviceContext(BaseTorchFunctionMode):
    """`with device:` as a mode: within it tensors are made on the device unless their maker is told another."""

    def __init__(self, device):
        self.device = _C.device(device)

    def __enter__(self):
        self.device.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.device.__exit__(*error)


class _Scope(DeviceContext, _DecoratorContextManager):
    """The mode as a decorator: each call has a scope of its own."""

    def clone(self):
        return _Scope(self.device)


def set_device(device):
    """A decorator of functions and generators that make their tensors on `device`."""
    return _Scope(device)
