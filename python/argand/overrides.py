"""Classes and modes that take the place of functions, as torch.overrides.

Functions and methods that are ops, operators and indexing ask for __torch_function__; functions written in Python do so by
the ops that they call, and those of torch.nn.init by themselves.
"""
import contextlib
import functools

from . import _C
from ._C import Tensor
from ._tensor import _NOT_CONVERTED


def has_torch_function(relevant_args):
    """Whether one of the arguments has a __torch_function__ of its own, or a TorchFunctionMode is on."""
    return _C._is_overridden(tuple(relevant_args))


def has_torch_function_unary(argument):
    """has_torch_function for one argument."""
    return _C._is_overridden((argument,))


def has_torch_function_variadic(*arguments):
    """has_torch_function for arguments given one by one."""
    return _C._is_overridden(arguments)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the classes of the relevant arguments, or a mode, make of `public_api(*args, **kwargs)`."""
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
    """Within it, __torch_function__ is called in the place of every function, for all arguments."""

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
def enable_reentrant_dispatch():
    """Functions called by __torch_function__ may be replaced again, as they always are here."""
    yield


def is_tensor_like(inp):
    """Whether it is a Tensor or has a __torch_function__."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


@functools.cache
def get_overridable_functions():
    """The functions that ask for __torch_function__, in lists by the module or class they belong to."""
    import argand
    from argand import fft, linalg, nn, special
    kinds = (type(argand.add), type(Tensor.add))
    return {owner: [f for n, f in vars(owner).items() if isinstance(f, kinds) and not n.startswith("_")]
            for owner in (argand, nn.functional, linalg, fft, special, Tensor)}


def get_ignored_functions():
    """Functions that look alike and never ask: none are listed."""
    return set()


def get_default_nowrap_functions():
    """Functions whose results keep their type."""
    return _NOT_CONVERTED


def resolve_name(f):
    """"torch.add", or None for what cannot be overridden."""
    if getattr(f, "__name__", "") in ("__get__", "__set__"):
        return f"torch.Tensor.{f.__self__.__name__}.{f.__name__}"
    for owner, functions in get_overridable_functions().items():
        if any(f is g for g in functions):
            prefix = "torch.Tensor" if owner is Tensor else owner.__name__.replace("argand", "torch", 1)
            return f"{prefix}.{f.__name__}"
    return None


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or the getter of an attribute."""
    return isinstance(func, type(Tensor.add)) or getattr(func, "__name__", "") in ("__get__", "__set__")
