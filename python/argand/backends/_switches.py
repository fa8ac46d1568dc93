"""Modules with settings: attributes that are read and written by functions."""
import contextlib
import sys
import types


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
