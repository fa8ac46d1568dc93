"""The methods of Tensor that are written in Python.

The class itself is made by the extension module, with the ops as methods.  Each file of this folder has one class of methods; PARTS lists
them, and complete() gives them all to Tensor, at one place and once, when the package is imported.
"""
from .._overridable import make_methods_overridable
from .arrays import Arrays
from .copies import Copies
from .functions import Functions
from .gradients import Gradients
from .objects import Objects
from .storages import Storages
from .subclasses import Subclasses
from .text import Text
from .types import Types

PARTS = (Arrays, Copies, Functions, Gradients, Objects, Storages, Subclasses, Text, Types)
_OF_CLASSES = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__"}  # what each class has of its own


def methods():
    """{name: method} of all parts; a name that two of them have is an error."""
    found = {}
    for part in PARTS:
        for name, value in vars(part).items():
            if name not in _OF_CLASSES:
                if name in found:
                    raise TypeError(f"Tensor.{name} stands in two files")
                found[name] = value
    return found


def complete(cls):
    """Gives the class these methods; classes and modes can override those that are functions."""
    for name, value in methods().items():
        setattr(cls, name, value)
    make_methods_overridable(cls)
