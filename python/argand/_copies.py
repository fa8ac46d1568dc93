"""How tensors, dtypes and layouts are made again of what was copied or pickled."""
import copyreg
import types

from . import _C
from ._dispatch import StateOff, slots_of
from ._serialization.state import _get_layout

Tensor = _C.Tensor


def _rebuild(cls, data, dtype, sizes, device, requires_grad, attributes):
    with StateOff():  # modes are shown the tensor that was made
        tensor = _from_bytes(data, dtype, sizes).to(device)
    tensor = _C._shown(tensor)
    return _restore(cls, tensor, requires_grad, attributes)


def _restore(cls, tensor, requires_grad, attributes):
    if cls is not Tensor:
        tensor = _C._make_subclass(cls, tensor, requires_grad)
    else:
        tensor.requires_grad_(requires_grad)
    tensor.__dict__.update(attributes or {})
    return tensor


def _from_bytes(data, dtype, sizes):
    flat = _C._from_bytes(data, dtype)
    return flat.reshape(sizes)


def state_of(tensor):
    """All that a tensor is besides its elements: what its class says, or its attributes, with the values of its __slots__ if it has any."""
    own = getattr(type(tensor), "__getstate__", None)
    if own is not None and own is not getattr(object, "__getstate__", None):
        return tensor.__getstate__()
    slots = _slots_of(tensor)
    return (dict(tensor.__dict__), slots) if slots else dict(tensor.__dict__)


def _slots_of(tensor):
    if type(tensor) is Tensor:
        return {}
    return slots_of(tensor)


def _set_state(tensor, state):
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    tensor.__dict__.update(attributes or {})
    for name, value in slots.items():
        if not isinstance(getattr(type(tensor), name, None), types.MemberDescriptorType):  # a file may say anything
            raise ValueError(f"{type(tensor).__name__} has no slot {name!r}")
        setattr(tensor, name, value)


def _rebuild_from_type_v2(func, new_type, args, state):
    """What torch.save makes a tensor of a subclass, or one with attributes, of."""
    result = func(*args)
    if new_type is not type(result):
        result = _restore(new_type, result, result.requires_grad, None)
    if hasattr(result, "__setstate__"):
        result.__setstate__(state)
    else:
        _set_state(result, state)
    return result


def _rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad):
    """What a pickled tensor of the meta device is made with."""
    return _C.empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_wrapper_subclass(cls, dtype, size, stride, storage_offset, layout, device, requires_grad):
    """A tensor without memory; its attributes follow."""
    return _C.Tensor._make_wrapper_subclass(cls, size, strides=stride, storage_offset=storage_offset, dtype=dtype, layout=layout, device=device,
                                            requires_grad=requires_grad)


def _named_dtype(name):
    return getattr(_C, name)


copyreg.pickle(_C.layout, lambda layout: (_get_layout, (str(layout),)))
copyreg.pickle(_C.dtype, lambda dtype: (_named_dtype, (repr(dtype).removeprefix("torch."),)))
