"""What packages ask of torch.utils._python_dispatch.  Ops are not dispatched to Python."""
import contextlib

from .._ignored import harmless
from .._refused import refused


@harmless(t="there are no tensors around tensors")
def is_traceable_wrapper_subclass(t):
    """False: there are no tensors around tensors."""
    return False


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass


class TorchDispatchMode:
    """A scope in which PyTorch would hand every op to __torch_dispatch__: entering one raises NotImplementedError."""

    @harmless(_dispatch_key="no mode is entered: __enter__() says so")
    def __init__(self, _dispatch_key=None):
        self.old_dispatch_mode_flags = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    __enter__ = refused("torch.utils._python_dispatch.TorchDispatchMode", "ops are not dispatched to Python; "
                        "torch.overrides.TorchFunctionMode sees the calls of a program")

    def __exit__(self, *_):
        return False


def _get_current_dispatch_mode():
    """None: there is none to be in."""


def _get_current_dispatch_mode_stack():
    """None of them."""
    return []


def _disable_current_modes():
    """A scope without such modes, as every one is."""
    return contextlib.nullcontext([])


return_and_correct_aliasing = refused("torch.utils._python_dispatch.return_and_correct_aliasing", "ops are not dispatched to Python")
