"""Symbolic sizes, which Argand does not have: names for annotations and isinstance(), in torch.types."""
import typing

from . import _C
from ._refused import refused_class

__all__ = ["SymInt", "SymFloat", "SymBool", "PySymType", "py_sym_types", "_symsize", "_Number", "_TensorOrOptionalTensors"]

_NO_SYMBOLS = "sizes are numbers: nothing is traced"
SymInt, SymFloat, SymBool = (refused_class("torch." + name, _NO_SYMBOLS) for name in ("SymInt", "SymFloat", "SymBool"))
PySymType, py_sym_types = typing.Union[SymInt, SymFloat, SymBool], (SymInt, SymFloat, SymBool)
_symsize = typing.Union[_C.Size, typing.Sequence[typing.Union[int, SymInt]]]
_Number = (int, float, bool)
_TensorOrOptionalTensors = typing.Union[_C.Tensor, typing.Sequence[typing.Optional[_C.Tensor]]]
