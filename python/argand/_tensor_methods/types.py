"""Dtypes of tensors, and constructors by dtype."""
from .. import _C
from .._dtypes import FACTS, TENSOR_TYPES
from .._typed_tensors import _check_legacy, _new, dtype_and_device_of

Tensor = _C.Tensor


def _conversion(name, dtype):
    def convert(self, memory_format=None):
        return self.to(dtype, memory_format=memory_format)
    convert.__name__, convert.__doc__ = name, f"The tensor as {dtype}; itself if it is."
    return convert


class Types:
    """Conversions by the name of a dtype, type() and new()."""

    vars().update({_facts.method: _conversion(_facts.method, _dtype) for _dtype, _facts in FACTS.items()})

    def type(self, dtype=None, non_blocking=False, *, memory_format=_C.preserve_format, **kwargs):
        """Without an argument the name of the tensor type ("torch.FloatTensor"), else the tensor as that type."""
        non_blocking = kwargs.pop("async", non_blocking)
        if kwargs:
            raise TypeError(f"type() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if dtype is None:
            # harmless(memory_format): nothing is copied
            return ("torch.cuda." if self.is_cuda else "torch.") + TENSOR_TYPES[self.dtype]
        device = None
        if isinstance(dtype, str):
            dtype, device = dtype_and_device_of(dtype)
        elif isinstance(dtype, type) and hasattr(dtype, "_argand_dtype"):
            dtype, device = dtype._argand_dtype, "cuda" if dtype.is_cuda else "cpu"
        elif dtype is Tensor:
            dtype = _C.get_default_dtype()
        return self.to(device=device or self.device, dtype=dtype, non_blocking=non_blocking, memory_format=memory_format)

    def new(self, *args, size=None, device=None):
        """A tensor of the same dtype and device: of some sizes, or of elements that are given."""
        if device is not None:
            _check_legacy(self.device.type, device, args)
        return _new(self.dtype, self.device if device is None else device, *args, size=size)
