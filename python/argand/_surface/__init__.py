"""What the names of PyTorch are that our modules do not define: loaded at first use, ignored, or refused with a reason.

The tables of this folder list them (table.py has their format); docs/design/0019-python-surface.md says why.  A module that has
such names ends with

    __getattr__, __dir__ = _surface.of(__name__)

and modules of PyTorch that have no file here are made from the tables (modules.py).
"""
import sys
from importlib import import_module

from .naming import full, own, short

_NOT_OF_PYTHON = ("__config__", "__future__")  # other names with two underscores are questions of the import system


def _value(owner, name, entry):
    """What the table says that a name is."""
    if entry.kind in ("refused", "ignored"):
        from .refusals import made
        found = made(owner, name, entry)
        setattr(sys.modules[full(owner)], name, found)  # one object for all who ask
        return found
    if entry.detail == ".":
        return import_module(own(entry.text))
    found = getattr(import_module(own(entry.text)), entry.detail or name)
    return found() if entry.kind == "computed" else found


def section_of(module):
    """What the tables say of a module of ours, or None."""
    from .table import section
    theirs = short(module)
    return None if theirs is None else section(theirs)


def value(module, name):
    """What a module of ours has under a name that it does not define; AttributeError if that is nothing."""
    why = ""
    if not name.startswith("__") or name in _NOT_OF_PYTHON:
        known = section_of(module)
        entry = None if known is None else known.names.get(name)
        if entry is not None and entry.kind not in ("absent", "extra"):
            return _value(short(module), name, entry)
        why = f": {entry.text}" if entry is not None else ""
        if known is not None and known.all_of and name in (others := import_module(own(known.all_of))).__all__:
            return getattr(others, name)
    raise AttributeError(f"module '{getattr(sys.modules.get(module), '__name__', module)}' has no attribute '{name}'{why}")


def names(module):
    """The names that value() finds for a module."""
    known = section_of(module)
    if known is None:
        return []
    listed = [name for name, entry in known.names.items() if entry.kind not in ("absent", "extra") and "." not in name]
    return listed + (import_module(own(known.all_of)).__all__ if known.all_of else [])


def of(module, otherwise=None, others=None):
    """__getattr__ and __dir__ of the module of this name.

    otherwise(name) is asked before a name is an AttributeError; it returns None for names that it does not know, either.  others() lists
    the names that it knows.
    """
    def find(name):
        try:
            return value(module, name)
        except AttributeError:
            found = None if otherwise is None or name.startswith("__") else otherwise(name)
            if found is None:
                raise
            return found

    def listed():
        return sorted({*vars(sys.modules[module]), *names(module), *(others() if others is not None else ())})
    return find, listed
