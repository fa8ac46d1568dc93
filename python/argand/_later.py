"""Loads a module's rarely used names, from a second module, at first use."""
from importlib import import_module

from ._named_modules import refused_name


def names(module, later):
    """A __getattr__ for the module named `module`: it finds the names in __all__ of the module named `later`, and refused names."""
    def find(name):
        if not name.startswith("__"):  # the import system's questions
            found = import_module(later)
            if name in found.__all__:
                return getattr(found, name)
        return refused_name(module, name)
    return find
