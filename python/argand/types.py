"""Names of types that annotations use, as torch.types."""
import builtins
import os
import typing

from . import _C, _surface
from ._C import Size, Tensor  # noqa: F401
from .storage import UntypedStorage

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout = _C.dtype, _C.device, _C.layout
_size = typing.Union[_C.Size, typing.List[int], typing.Tuple[int, ...]]
Number = typing.Union[int, float, bool]
Device = typing.Optional[typing.Union[_C.device, str, int]]
FileLike = typing.Union[str, os.PathLike, typing.IO[bytes]]
_TensorOrTensors = TensorOrTensors = typing.Union[_C.Tensor, typing.Sequence[_C.Tensor]]
Storage = UntypedStorage
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool


__getattr__, __dir__ = _surface.of(__name__)
