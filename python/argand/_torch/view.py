"""The module torch: argand without what PyTorch does not have, and with PyTorch's private modules.

The names are argand's, and so are the objects.  Not shown are those that _surface/torch.txt marks as Argand's own, and argand's private
modules.  Private modules of torch are those of this folder, and those that a table makes.
"""
import functools
import pkgutil
import types
from importlib import import_module
from importlib.util import find_spec, spec_from_file_location

import argand

from . import _C
from .. import _torch
from .._surface import table
from .._surface.naming import full, is_private, own


@functools.cache
def _is_ours(name):
    """Whether this package has a private module of torch."""
    return find_spec(full(name)) is not None


@functools.cache
def _is_argands(name):
    return isinstance(vars(argand).get(name), types.ModuleType) or find_spec(own(name)) is not None


def shows(name):
    """Whether torch has this name."""
    if name.startswith("__"):
        return True
    return not table.section("").hides(name) and (not is_private(name) or _is_ours(name) or not _is_argands(name))


class _Torch(types.ModuleType):
    """The type of the module torch.

    What a program assigns to torch.NAME is argand.NAME, too, so that the package calls what the program has put there, as PyTorch does.
    """

    def __getattr__(self, name):
        if not shows(name):
            raise AttributeError(f"module 'torch' has no attribute '{name}'")
        if is_private(name) and _is_ours(name):
            return import_module(full(name))
        try:
            return getattr(argand, name)
        except AttributeError as error:
            raise AttributeError(str(error).replace("'argand'", "'torch'", 1)) from None

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if _is_shared(name):
            setattr(argand, name, value)

    def __delattr__(self, name):
        if name in vars(self):
            super().__delattr__(name)
        if _is_shared(name):
            delattr(argand, name)

    def __dir__(self):
        private = {found.name for found in pkgutil.iter_modules(_torch.__path__)} | set(table.tops())
        return sorted({name for name in dir(argand) if shows(name)} | {name for name in private if is_private(name)})


def _is_shared(name):
    """Whether a name of torch is one of argand, and neither Python's own nor a private module of torch."""
    return not name.startswith("__") and not (is_private(name) and _is_ours(name))


@functools.cache
def torch():
    """The module.  It begins with the names that argand has loaded; it asks argand for others when a program asks for them."""
    module = _Torch("torch", argand.__doc__)
    names = {name: value for name, value in vars(argand).items() if shows(name)}
    for name in ("__name__", "__getattr__", "__dir__"):
        del names[name]
    spec = spec_from_file_location("torch", argand.__file__, submodule_search_locations=argand.__path__)
    vars(module).update(names, _C=_C, __package__="torch", __spec__=spec)
    return module
