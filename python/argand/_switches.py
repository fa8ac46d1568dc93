"""Modules with settings: attributes that functions read and write.

A setting is honoured, kept without effect (the reason says why it changes no result), or fixed to one value.
"""
import contextlib
import sys
import types

from . import _float32_precision
from ._ignored import warn_ignored


def checked(value, name, kind=bool):
    """The value that the setting `name` is given: RuntimeError unless it is True or False (or an int), because "no" counts as true."""
    if type(value) is not kind:
        raise RuntimeError(f"{name}: expected {'an' if kind is int else 'a'} {kind.__name__}, but got {type(value).__name__}")
    return value


def checked_argument(value, function, name, position=None):
    """The value of the argument `name` of a function that switches something: TypeError unless it is True or False."""
    if type(value) is not bool:
        where = f" (position {position})" if position else ""
        raise TypeError(f"{function}(): argument '{name}'{where} must be bool, not {type(value).__name__}")
    return value


def honoured(name, get, set, doc):
    """A bool that `get` reads and `set` changes."""
    return property(lambda _: get(), lambda _, on: set(checked(on, name)), doc=doc)


def kept(name, initial, why, kind=bool):
    """A setting that is remembered, and changes no result: `why`."""
    value = initial

    def change(_, new):
        nonlocal value
        value = checked(new, name, kind)
    return property(lambda _: value, change, doc=f"Kept: {why}.")


def fixed(name, value, why, same=()):
    """A setting that has one value: another, unless it is in `same`, is ignored with a warning that says `why`."""
    def change(_, new):
        if new != value and new not in same:
            warn_ignored(name.rpartition(".")[0], name.rpartition(".")[2], new, why)
    return property(lambda _: value, change, doc=f"{value!r}: {why}.")


def precision(level):
    """fp32_precision of a level, see _float32_precision."""
    return property(lambda _: _float32_precision.get(level), lambda _, value: _float32_precision.set(level, value),
                    doc="\"tf32\", \"ieee\", or \"none\", which stands for the precision of the level above.")


def fixed_precision(name, value, why):
    """fp32_precision that cannot be chosen: `value` is called for the one there is."""
    def change(_, new):
        if _float32_precision.check(new) not in ("none", value()) and (new, value()) != ("ieee", "none"):
            warn_ignored(name, "fp32_precision", new, why)
    return property(lambda _: value(), change, doc=f"Not chosen: {why}.")


class Group:
    """An object whose settings are the properties of its class."""

    def __getattr__(self, name):
        raise AttributeError(f"Unknown attribute {name}")

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError(f"Unknown attribute {name}")
        object.__setattr__(self, name, value)


def group(properties):
    """An object with these settings and no others."""
    return type("Settings", (Group,), properties)()


def make(name, properties):
    """Makes the attributes of the module `name` that `properties` names properties; a setting that there is not warns."""
    module = sys.modules[name]

    def set_attribute(self, attribute, value):
        is_setting = not attribute.startswith("_") and not isinstance(value, types.ModuleType) and not callable(value)
        if is_setting and attribute not in properties and attribute not in vars(self):
            warn_ignored(f"torch{name.removeprefix(__package__)}", attribute, value, "there is no such setting")
        types.ModuleType.__setattr__(self, attribute, value)
    module.__class__ = type(module.__name__, (types.ModuleType,), {**properties, "__setattr__": set_attribute})


@contextlib.contextmanager
def set_for_scope(module, values):
    """A scope in which attributes of the module have other values; None leaves one alone."""
    before = {key: getattr(module, key) for key, value in values.items() if value is not None}
    try:
        for key in before:
            setattr(module, key, values[key])
        yield
    finally:
        for key, value in before.items():
            setattr(module, key, value)
