"""Batches in page-locked memory, from which copies to a GPU need not be waited for."""
import collections.abc

from ... import _C
from ..._ignored import harmless
from .collate import _mapping_like, _sequence_like


@harmless(device="memory is page-locked for all GPUs")
def pin_memory(data, device=None):
    """The tensors of a batch in page-locked memory; objects with a pin_memory() method do it themselves."""
    if isinstance(data, _C.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _mapping_like(data, {key: pin_memory(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(value) for value in data))
    if isinstance(data, tuple):
        return [pin_memory(value) for value in data]
    if isinstance(data, collections.abc.Sequence):
        return _sequence_like(data, [pin_memory(value) for value in data])
    return data
