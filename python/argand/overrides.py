"""Classes and modes that override functions, as torch.overrides.

Functions, methods, operators and indexing look for __torch_function__, whether they are ops or written in Python.
"""
import contextlib
import functools
import inspect
import keyword
import types

from . import _C
from ._C import Tensor
from ._tensor import _NOT_CONVERTED


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


# Methods that every object has, and those that look attributes up.
_OF_OBJECTS = {*dir(object), "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__", "__delete__", "__next__",
               "__iter__", "__del__"} - {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"}


@functools.cache
def get_overridable_functions():
    """The functions that ask for __torch_function__, in lists by the module or class they belong to."""
    import argand
    from argand import fft, linalg, nn, special
    kinds = (type(argand.add), _C.overridable, *_METHODS)
    found = {owner: [f for n, f in vars(owner).items() if isinstance(f, kinds) and not n.startswith("_")]
             for owner in (argand, nn.functional, linalg, fft, special)}
    operators = [f for n, f in vars(Tensor).items() if isinstance(f, types.WrapperDescriptorType) and n not in _OF_OBJECTS]
    return {**found, Tensor: [f for f in vars(Tensor).values() if isinstance(f, kinds)] + operators}


@functools.cache
def get_testing_overrides():
    """For each function that asks for __torch_function__ one with its parameters that returns -1."""
    overrides = {f: _stand_in(f) for functions in get_overridable_functions().values() for f in functions}
    for attribute in vars(Tensor).values():
        if isinstance(attribute, types.GetSetDescriptorType) and attribute.__name__ != "__dict__":
            overrides[attribute.__get__] = lambda self: -1
    return overrides


def _stand_in(function):
    kinds = inspect.Parameter
    if isinstance(function, types.WrapperDescriptorType):
        return _as_operator(function)
    if isinstance(function, (_C.overridable, _C.overridable_method)):
        parameters = list(inspect.signature(function).parameters.values())
    else:
        parameters = [kinds(name + "_" * keyword.iskeyword(name), kinds.KEYWORD_ONLY if by_name else kinds.POSITIONAL_OR_KEYWORD,
                            default=None if optional else kinds.empty) for name, optional, by_name in function._parameters]
    # A function of its own code: inspect.getfullargspec() is asked about it.
    text = ", ".join(_as_text(p, parameters[:i]) for i, p in enumerate(parameters))
    return eval(f"lambda {text}: -1")


def _as_operator(function):
    if function.__name__ == "__setitem__":
        return lambda self, key, value: -1
    try:
        several = len(inspect.signature(function).parameters) > 1
    except ValueError:
        several = False
    return (lambda self, other: -1) if several else lambda self: -1


def _as_text(parameter, before):
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else "=None"
    first_keyword = parameter.kind is parameter.KEYWORD_ONLY and not any(p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL) for p in before)
    return f"{'*, ' if first_keyword else ''}{star}{parameter.name}{default}"


def get_ignored_functions():
    """Functions that cannot be overridden: none are listed."""
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
            name = f.__name__ if getattr(owner, f.__name__, None) is f else next(n for n, g in vars(owner).items() if g is f)
            return f"{prefix}.{name}"
    return None


def is_tensor_method_or_property(func):
    """Whether it is a method of Tensor, or the getter of an attribute."""
    if isinstance(func, types.WrapperDescriptorType):
        return issubclass(Tensor, func.__objclass__)
    return isinstance(func, _METHODS) or getattr(func, "__name__", "") in ("__get__", "__set__")
