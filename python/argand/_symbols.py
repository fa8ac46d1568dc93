"""Symbolic sizes, which Argand does not have: names for annotations and isinstance(), in torch.types."""
import typing

from . import SymBool, SymFloat, SymInt, _C

PySymType, py_sym_types = typing.Union[SymInt, SymFloat, SymBool], (SymInt, SymFloat, SymBool)
_symsize = typing.Union[_C.Size, typing.Sequence[typing.Union[int, SymInt]]]
_Number = (int, float, bool)
_TensorOrOptionalTensors = typing.Union[_C.Tensor, typing.Sequence[typing.Optional[_C.Tensor]]]
