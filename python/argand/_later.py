"""Names of a module that few programs use, from a module that is loaded for those."""
from importlib import import_module


def names(module, later):
    """A __getattr__ for `module`, by its name: what `later`, by its name, lists in __all__."""
    def find(name):
        if not name.startswith("__"):  # the import system's questions
            found = import_module(later)
            if name in found.__all__:
                return getattr(found, name)
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    return find
