"""Classes and modes that override functions, as torch.overrides.

Functions, methods, operators and indexing look for __torch_function__, whether they are ops or written in Python.
"""
import contextlib
import functools
import types

from . import _C, _surface
from ._C import Tensor


_METHODS = (type(Tensor.add), _C.overridable_method)


def has_torch_function(relevant_args):
    """Whether one of the arguments has a __torch_function__ of its own, or a TorchFunctionMode is on."""
    if not isinstance(relevant_args, (tuple, list)):
        raise TypeError(f"has_torch_function: expected a sequence of arguments, got {type(relevant_args).__name__}")
    return _C._is_overridden(tuple(relevant_args))


def has_torch_function_unary(argument):
    """has_torch_function for one argument."""
    return _C._is_overridden((argument,))


def has_torch_function_variadic(*arguments):
    """has_torch_function for arguments given one by one."""
    return _C._is_overridden(arguments)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The result of `public_api(*args, **kwargs)` by the classes of the relevant arguments, or by a mode."""
    return _C._call_override(public_api, tuple(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher):
    """A decorator: `dispatcher(*args, **kwargs)` gives the arguments whose __torch_function__ may replace the function."""
    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            relevant = tuple(dispatcher(*args, **kwargs))
            if _C._is_overridden(relevant):
                return _C._call_override(wrapped, relevant, args, kwargs)
            return function(*args, **kwargs)
        return wrapped
    return decorate


class TorchFunctionMode:
    """A scope in which __torch_function__ is called in place of every function, whatever its arguments."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_torch_function_mode(self)
        return self

    def __exit__(self, *_):
        _C._pop_torch_function_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        """A mode to be entered."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def _enable_torch_function():
    """A scope in which classes and modes override functions again."""
    with _C._EnabledTorchFunction():
        yield


def _get_current_function_mode_stack():
    """The modes that are on, the innermost last."""
    return _C._torch_function_modes()


def _get_current_function_mode():
    """The innermost mode, or None."""
    modes = _get_current_function_mode_stack()
    return modes[-1] if modes else None


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Within __torch_dispatch__, ops are recorded by autograd again, as outside of it."""
    from ._dispatch import above_autograd
    with above_autograd():
        yield


def is_tensor_like(inp):
    """Whether it is a Tensor or has a __torch_function__."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or the getter of an attribute."""
    if isinstance(func, types.WrapperDescriptorType):
        return issubclass(Tensor, func.__objclass__)
    return isinstance(func, _METHODS) or getattr(func, "__name__", "") in ("__get__", "__set__")


__getattr__, __dir__ = _surface.of(__name__)
