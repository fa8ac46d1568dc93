"""Modules with settings: attributes that are read and written by functions.

A setting is honoured, kept where it changes no result (the reason says why), or has one value that another cannot change.
"""
import contextlib
import sys
import types

from ._ignored import warn_ignored


def _checked(value, kind, name):
    if type(value) is not kind:
        raise RuntimeError(f"{name}: expected {'an' if kind is int else 'a'} {kind.__name__}, but got {type(value).__name__}")
    return value


def honoured(name, get, set, doc):
    """A bool that `get` reads and `set` changes."""
    return property(lambda _: get(), lambda _, on: set(_checked(on, bool, name)), doc=doc)


def kept(name, initial, why, kind=bool):
    """A setting that is remembered, and changes no result: `why`."""
    value = initial

    def change(_, new):
        nonlocal value
        value = _checked(new, kind, name)
    return property(lambda _: value, change, doc=f"Kept: {why}.")


def fixed(name, value, why):
    """A setting that has one value: another is ignored with a warning that says `why`."""
    def change(_, new):
        if new != value:
            warn_ignored(name.rpartition(".")[0], name.rpartition(".")[2], new, why)
    return property(lambda _: value, change, doc=f"{value!r}: {why}.")


def make(name, properties):
    """Makes the attributes of the module `name` that `properties` names properties."""
    module = sys.modules[name]
    module.__class__ = type(module.__name__, (types.ModuleType,), properties)


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
