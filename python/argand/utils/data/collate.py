"""Batches from samples."""
import collections.abc
import copy
import re

from ... import _C
from ..._ignored import harmless
from ..._numpy_if_loaded import numpy_if_loaded

_ERROR = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
np_str_obj_array_pattern = re.compile(r"[SaUO]")  # how the dtypes of arrays begin that are no tensors; packages take it


def default_convert(data):
    """NumPy arrays as tensors, within mappings and sequences too; everything else as it is."""
    np = numpy_if_loaded()
    kind = type(data)
    if isinstance(data, _C.Tensor):
        return data
    if np is not None and isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUOMm" else _C.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _mapping_like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(default_convert(value) for value in data))
    if isinstance(data, tuple):
        return [default_convert(value) for value in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(value) for value in data])
    return data


def _mapping_like(example, values):
    """`values` as a mapping of the type of `example`, with what else that one carries; a dict if it cannot be."""
    try:
        if isinstance(example, collections.abc.MutableMapping):
            out = copy.copy(example)
            out.update(values)
            return out
        return type(example)(values)
    except TypeError:
        return values


def _sequence_like(example, values):
    try:
        if isinstance(example, collections.abc.MutableSequence):
            out = copy.copy(example)
            for i, value in enumerate(values):
                out[i] = value
            return out
        return type(example)(values)
    except TypeError:
        return values


_NOTHING_WITHIN = "the elements of the batch have no parts to collate"


@harmless(collate_fn_map=_NOTHING_WITHIN)
def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Tensors of one shape, stacked."""
    return _C.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Arrays of one shape, as one tensor."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(_ERROR.format(batch[0].dtype))
    return collate([_C.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


@harmless(collate_fn_map=_NOTHING_WITHIN)
def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """NumPy numbers, as one tensor."""
    return _C.as_tensor(numpy_if_loaded().asarray(batch))


@harmless(collate_fn_map=_NOTHING_WITHIN)
def collate_float_fn(batch, *, collate_fn_map=None):
    """floats, as float64."""
    return _C.tensor(batch, dtype=_C.float64)


@harmless(collate_fn_map=_NOTHING_WITHIN)
def collate_int_fn(batch, *, collate_fn_map=None):
    """ints as int64, bools as bool."""
    return _C.tensor(batch)


@harmless(collate_fn_map=_NOTHING_WITHIN)
def collate_str_fn(batch, *, collate_fn_map=None):
    """Texts and bytes, as a list."""
    return batch


default_collate_fn_map = {_C.Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn, str: collate_str_fn,
                          bytes: collate_str_fn}


def _function_for(element, functions):
    found = functions.get(type(element))
    if found is not None:
        return found
    np = numpy_if_loaded()
    if functions is default_collate_fn_map and np is not None:
        if isinstance(element, np.ndarray):
            return collate_numpy_array_fn
        if isinstance(element, (np.bool_, np.number)) and not isinstance(element, (str, bytes)):
            return collate_numpy_scalar_fn
    for kind, function in functions.items():
        if isinstance(element, kind):
            return function
    return None


def collate(batch, *, collate_fn_map=None):
    """A batch of samples as a sample of batches: functions by type (or tuples of types) collate elements; mappings, named
    tuples and sequences are gone into."""
    element = batch[0]
    if collate_fn_map is not None:
        function = _function_for(element, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(element, collections.abc.Mapping):
        return _mapping_like(element, {key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
                                       for key in element})
    if isinstance(element, tuple) and hasattr(element, "_fields"):
        return type(element)(*(collate(values, collate_fn_map=collate_fn_map) for values in zip(*batch)))
    if isinstance(element, collections.abc.Sequence):
        if any(len(sample) != len(element) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [collate(values, collate_fn_map=collate_fn_map) for values in zip(*batch)]
        return columns if isinstance(element, tuple) else _sequence_like(element, columns)
    raise TypeError(_ERROR.format(type(element)))


def default_collate(batch):
    """Tensors, arrays and numbers stacked into tensors, texts in lists, within mappings, named tuples and sequences."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
