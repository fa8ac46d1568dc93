"""Modules of PyTorch that have no file here: those whose names another module defines, and those whose names are refused.

A module in SHOWN or REFUSED (_module_tables.py) is made when it is imported; a module that has a file asks here, in its
__getattr__, for names that REFUSED lists for it.  A refused name can be imported, compared and asked
about with isinstance(); a call raises NotImplementedError with the reason.
"""
import importlib
import importlib.abc
import importlib.machinery
import sys

_PACKAGE = __package__  # "argand"


def _short(module):
    return module.partition(".")[2]


def refused_name(module, name):
    """What REFUSED has in a module under the name; AttributeError if it has none.  Names with a capital are classes."""
    why = None
    if not name.startswith("__"):  # the import system's questions
        from ._module_tables import REFUSED
        why = REFUSED.get(_short(module), {}).get(name)
    if why is None:
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    from ._refused import refused, refused_class
    full = f"torch.{_short(module)}.{name}".replace("..", ".")
    made = (refused_class if name.lstrip("_")[:1].isupper() else refused)(full, why)
    setattr(sys.modules[f"{_PACKAGE}.{_short(module)}".rstrip(".")], name, made)  # one object for all who ask
    return made


def names_of(module):
    """A __getattr__ for a module that is a file, by its name, for the names that are refused in it and nothing else."""
    return lambda name: refused_name(module, name)


class NamedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds these modules, when nothing else does."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != _PACKAGE:
            return None
        from ._module_tables import REFUSED, SHOWN
        if _short(name) not in SHOWN and _short(name) not in REFUSED:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # others may stand below it

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from ._module_tables import SHOWN
        name, shown = module.__spec__.name, SHOWN.get(_short(module.__spec__.name))
        module.__doc__ = "Names of PyTorch's module: see argand/_named_modules.py."

        def find(attribute):
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            if shown is not None:
                source = importlib.import_module(f"{_PACKAGE}.{shown}" if shown else _PACKAGE)
                if hasattr(source, attribute):
                    return getattr(source, attribute)
            return refused_name(name, attribute)
        module.__getattr__ = find


def install():
    """From now on these modules can be imported."""
    if not any(isinstance(finder, NamedModules) for finder in sys.meta_path):
        sys.meta_path.append(NamedModules())
