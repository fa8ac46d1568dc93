"""Gives classes and functions PyTorch's __module__ where `import torch` means Argand.

Packages decide by type(x).__module__ and by names of modules, warnings are filtered by them, and files name classes by them.
So under `python -m argand`, modules, classes and functions say torch.x for argand.x, and those that are defined in another file here
than in PyTorch say PyTorch's module.  Imported as argand, they keep their own.
"""
import functools
import sys
import types

from .. import _C
from .._surface.homes import module_of_op, torch_module
from .._surface.naming import full, short
from .view import shows


def is_shown(name):
    """Whether torch shows a module or another name, as nn.functional."""
    return shows(name.partition(".")[0])


def say_torch(module, name=None):
    """The module, by a name that it has here, and the classes and functions that it shows, say torch from now on."""
    for value in list(vars(module).values()):
        if isinstance(value, (type, types.FunctionType, functools._lru_cache_wrapper)):
            _rename(value)
        elif isinstance(value, _C.overridable):
            _rename(value.__wrapped__)
        elif type(value).__name__ == "function" and type(value).__module__ == "torch._C":
            _rename_op(value)
        elif isinstance(value, types.ModuleType) and value.__name__.startswith("argand._C."):  # whose functions go by its name
            say_torch(value)
    name = name or module.__name__
    theirs = short(name)
    if theirs and is_shown(theirs):  # argand itself, and what torch does not show, keep their names
        module.__name__ = torch_module(name, "")


def _rename(thing):
    own = thing.__module__
    if not isinstance(own, str) or own.partition(".")[0] != "argand":
        return
    home = torch_module(own, thing.__qualname__.partition(".")[0])
    package, _, theirs = home.partition(".")
    if package != "torch" or not is_shown(theirs or thing.__qualname__):
        return  # pickles find it under its name here
    thing.__module__ = home
    _show_at_home(home, thing)
    if isinstance(thing, type):
        for value in list(vars(thing).values()):
            value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            value = value.__wrapped__ if isinstance(value, _C.overridable_method) else value
            if isinstance(value, types.FunctionType) and value.__module__ == own:
                value.__module__ = home
            elif isinstance(value, type):
                _rename(value)


def _show_at_home(home, thing):
    """Adds a class or function to the module of ours that its __module__ names, if it is not there: pickle looks for it by that name."""
    module = sys.modules.get(full(home.partition(".")[2]))
    if isinstance(module, types.ModuleType) and thing.__name__ == thing.__qualname__ and thing.__name__ not in vars(module):
        setattr(module, thing.__name__, thing)


def _rename_op(op):
    home = module_of_op(op.__name__)
    if home:
        op.__module__ = home
