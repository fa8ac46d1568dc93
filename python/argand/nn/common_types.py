"""Names of types that signatures of modules use: a size, or one for each dimension."""
from typing import Optional, Union

from .. import _C

_scalar_or_tuple_any_t = Union[int, tuple[int, ...]]
_scalar_or_tuple_1_t = Union[int, tuple[int]]
_scalar_or_tuple_2_t = Union[int, tuple[int, int]]
_scalar_or_tuple_3_t = Union[int, tuple[int, int, int]]
_size_any_t, _size_1_t, _size_2_t, _size_3_t = (
    _scalar_or_tuple_any_t, _scalar_or_tuple_1_t, _scalar_or_tuple_2_t, _scalar_or_tuple_3_t)
_size_2_opt_t = Union[int, tuple[Optional[int], Optional[int]]]
_size_3_opt_t = Union[int, tuple[Optional[int], Optional[int], Optional[int]]]
_ratio_2_t, _ratio_3_t, _ratio_any_t = (
    Union[float, tuple[float, float]], Union[float, tuple[float, float, float]], Union[float, tuple[float, ...]])
_tensor_list_t = Union[_C.Tensor, list[_C.Tensor]]
