"""Names: of objects as text that PyTorch's programs know, and of nodes, each once in a graph."""
import builtins
import collections
import keyword
import math
import re
import sys
import types
import typing

import argand
from .._overloads import OpOverload, OpOverloadPacket

# Functions of the library that PyTorch has in torch.nn.functional alone.
_OF_NN_FUNCTIONAL = frozenset(("avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "log_sigmoid", "one_hot",
                               "softplus", "softshrink", "softsign", "tanhshrink"))


def public_module(module):
    """The module's name as PyTorch's programs know it: torch for argand."""
    head, dot, rest = module.partition(".")
    return "torch" + dot + rest if head == "argand" else module


def _home_of(function, module, name):
    # The outermost package of ours that shows the function: torch.nn.functional, not the file it is written in.
    parts = module.split(".")
    for i in range(1, len(parts)):
        package = sys.modules.get(".".join(parts[:i]))
        if getattr(package, name, None) is function:
            return ".".join(parts[:i])
    return module


def qualified_name(function):
    """The full name of a function or class, by which generated code finds it."""
    if getattr(builtins, function.__name__, None) is function:
        return function.__name__
    name, module = function.__name__, getattr(function, "__module__", None)
    if isinstance(function, (type(argand.Tensor.add), argand._C.overridable_method)) or isinstance(function, types.MethodDescriptorType) and issubclass(
            argand.Tensor, function.__objclass__):
        return f"torch.Tensor.{name}"
    if name == "<lambda>":
        return f"{public_module(module)}.{name}"
    if isinstance(function, type(argand.relu)):
        package, _, short = name.partition("_")
        if package in ("fft", "linalg", "special") and getattr(getattr(argand, package), short, None) is function:
            return f"torch.{package}.{short}"
        return f"torch.nn.functional.{name}" if name in _OF_NN_FUNCTIONAL else f"torch.{name}"
    if isinstance(function, OpOverload):
        return f"torch.ops.{function}"
    if isinstance(function, OpOverloadPacket):
        return f"torch.ops.{function._namespace}.{name}"
    if module is None:
        raise RuntimeError(f"cannot find module for {function}")
    if isinstance(function, (types.FunctionType, argand._C.overridable)) and module.startswith(("argand.", "torch.")):
        module = _home_of(function, module, name)
    return f"{public_module(module)}.{name}"


def is_ours(obj):
    """Whether generated code finds the object by its name in torch."""
    module = getattr(obj, "__module__", None)
    if isinstance(module, str):
        return module.partition(".")[0] in ("argand", "torch") and getattr(obj, "__name__", "") != "<lambda>" and "<locals>" not in getattr(
            obj, "__qualname__", "")
    return isinstance(obj, types.MethodDescriptorType) and issubclass(argand.Tensor, obj.__objclass__)


def type_repr(obj):
    """A type in annotations and graphs."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{public_module(obj.__module__)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    if getattr(obj, "__module__", None) == "typing" and typing.get_args(obj):
        return re.sub(r"\bargand(?=\.)", "torch", repr(obj))
    return repr(obj)


def snake_case(name):
    """CamelCase as camel_case."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def is_magic(name):
    """Whether the name is Python's, as __add__."""
    return name.startswith("__") and name.endswith("__")


def custom_builtins():
    """What all generated code has, and how a program imports it."""
    from ..utils import _pytree
    from . import _pytree as fx_pytree
    return {"inf": (math.inf, "from math import inf"), "nan": (math.nan, "from math import nan"),
            "NoneType": (type(None), "NoneType = type(None)"), "torch": (argand, "import argand as torch"),
            "device": (argand.device, "from argand import device"),
            "fx_pytree": (fx_pytree, "import argand.fx._pytree as fx_pytree"),
            "pytree": (_pytree, "import argand.utils._pytree as pytree")}


_ILLEGAL = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}
_NUMBERED = re.compile(r"(.*?)_(\d+)$")


class Namespace:
    """Names, each given once; an object gets the same name again."""

    def __init__(self):
        self._used = set()
        self._of_object = {}
        self._count = collections.defaultdict(int)

    def create_name(self, candidate, obj):
        """A free name like `candidate`: itself, or with the next number; `obj` (unless None) will have it from now on."""
        if obj is not None and obj in self._of_object:
            return self._of_object[obj]
        candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        numbered = _NUMBERED.match(candidate)
        base, number = (numbered[1], int(numbered[2])) if numbered and numbered[1] else (candidate, None)
        # A number that is new is kept; names taken and Python's own get the next.
        if candidate in self._used or self._is_illegal(candidate, obj):
            number = self._count[base]
            while candidate in self._used or self._is_illegal(candidate, obj):
                number += 1
                candidate = f"{base}_{number}"
        if number is not None:
            self._count[base] = max(self._count[base], number)
        self._used.add(candidate)
        if obj is not None:
            self.associate_name_with_obj(candidate, obj)
        return candidate

    def _is_illegal(self, name, obj):
        if name not in _ILLEGAL or keyword.iskeyword(name):
            return name in _ILLEGAL
        own = getattr(builtins, name, None)
        return own is None or own is not obj

    def associate_name_with_obj(self, name, obj):
        """Notes the object's name."""
        self._of_object[obj] = name
        self._used.add(name)
