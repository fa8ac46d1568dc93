"""torch._C._nn, of which packages take few functions."""
from ..._C import linear  # noqa: F401
from .._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from ...nn.modules.module import _to_arguments


def _parse_to(*args, **kwargs):
    """What Module.to(*args, **kwargs) means: device, dtype, non_blocking, memory_format."""
    return _to_arguments(*args, **kwargs)


def flatten_dense_tensors(tensors):
    """The elements of all tensors, one after the other."""
    return _flatten_dense_tensors(tensors)


def unflatten_dense_tensors(flat, tensors):
    """Such elements as tensors of the shapes of `tensors`."""
    return _unflatten_dense_tensors(flat, tensors)
