"""Modules of PyTorch that have no file here: the tables name them, and they are made when they are imported."""
import importlib.abc
import importlib.machinery
import sys
import types
from importlib import import_module

from . import names, section_of, value
from .naming import PACKAGE, own


class _KeepsItsNames(types.ModuleType):
    """A module one of whose names is also that of a module below it: importing that one does not hide the name."""

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType):
            known = section_of(value.__spec__.name.rpartition(".")[0])
            entry = None if known is None else known.names.get(name)
            if entry is not None and entry.kind in ("ignored", "refused"):
                return
        super().__setattr__(name, value)


class TableModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds these modules, when nothing else does."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != PACKAGE:
            return None
        found = section_of(name)
        if found is None or found.absent is not None:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # others may stand below it

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        shown = section_of(name).shown
        module.__doc__ = "Names of PyTorch's module: see argand/_surface."

        def find(attribute):
            if attribute == "__all__":
                return [public for public in listed() if not public.startswith("_")]
            if shown is not None and not attribute.startswith("__"):
                source = import_module(own(shown))
                if hasattr(source, attribute):
                    return getattr(source, attribute)
            return value(name, attribute)

        def listed():
            others = [] if shown is None else [n for n in dir(import_module(own(shown))) if not n.startswith("__")]
            return sorted({*vars(module), *names(name), *others})
        module.__getattr__, module.__dir__ = find, listed
        parent, _, child = name.rpartition(".")
        if child in names(parent):
            sys.modules[parent].__class__ = _KeepsItsNames


def install():
    """From now on these modules can be imported."""
    if not any(isinstance(finder, TableModules) for finder in sys.meta_path):
        sys.meta_path.append(TableModules())
