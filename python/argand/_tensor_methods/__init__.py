"""The methods of Tensor, and of other classes of the extension module, that are written in Python.

The classes themselves are made by the extension module, Tensor with the ops as methods.  Files of this folder, and two of others, have
classes of methods; PARTS lists them, and complete() gives them all to their class, at one place and once, when the package is imported.
"""
from .. import _C
from .._overridable import make_methods_overridable
from ..autograd.graph import _NodeMethods
from ..random import _GeneratorMethods
from .arrays import Arrays
from .copies import Copies
from .functions import Functions
from .gradients import Gradients
from .objects import Objects
from .others import Devices, Names
from .storages import Storages
from .subclasses import Subclasses
from .text import Text
from .types import Types

PARTS = {
    _C.Tensor: (Arrays, Copies, Functions, Gradients, Objects, Storages, Subclasses, Text, Types),
    _C.Node: (_NodeMethods,),
    _C.Generator: (_GeneratorMethods,),
    _C.device: (Devices,),
    _C.layout: (Names,),
    _C.memory_format: (Names,),
}
_OF_CLASSES = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__"}  # what each class has of its own


def methods(parts):
    """{name: method} of several classes; a name that two of them have is an error."""
    found = {}
    for part in parts:
        for name, value in vars(part).items():
            if name not in _OF_CLASSES:
                if name in found:
                    raise TypeError(f"the method {name} stands in two files")
                found[name] = value
    return found


def complete():
    """Gives the classes these methods; programs can override those of Tensor that are functions."""
    for cls in (_C.Tensor, _C.Size):
        cls.__name__ = cls.__name__  # errors of Python's then name it without its module, as any class
    for cls, parts in PARTS.items():
        for name, value in methods(parts).items():
            setattr(cls, name, value)
    make_methods_overridable(_C.Tensor)
