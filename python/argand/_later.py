"""Names of a module that few programs use, from a module that is loaded for those."""
from importlib import import_module

from ._named_modules import refused_name


def names(module, later):
    """A __getattr__ for `module`, by its name: what `later`, by its name, lists in __all__, and what is refused there."""
    def find(name):
        if not name.startswith("__"):  # the import system's questions
            found = import_module(later)
            if name in found.__all__:
                return getattr(found, name)
        return refused_name(module, name)
    return find
