"""What can be overridden, for torch.overrides: lists of all functions, which are made when a program asks for them."""
import functools
import inspect
import keyword
import types

import argand

from . import _C, fft, linalg, nn, special
from ._C import Tensor
from ._surface import alias
from ._tensor_methods.subclasses import NOT_CONVERTED
from .overrides import _METHODS as METHODS


# Methods that every object has, and those that look attributes up.
_OF_OBJECTS = {*dir(object), "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__", "__delete__", "__next__",
               "__iter__", "__del__"} - {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"}


@functools.cache
def get_overridable_functions():
    """The functions that ask for __torch_function__, in lists by the module or class they belong to.  Under `python -m argand` the
    package itself stands in it as `torch`, with what `torch` shows."""
    kinds = (type(argand.add), _C.overridable, *METHODS)
    package = alias.torch or argand
    found = {package if owner is argand else owner:
             [f for n, f in vars(owner).items()
              if isinstance(f, kinds) and not n.startswith("_") and (owner is not argand or hasattr(package, n))]
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
    return NOT_CONVERTED


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
