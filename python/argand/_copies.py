"""How tensors are copied and pickled; importing this module gives Tensor the methods."""
import copy
import sys
import types

from . import _C, _sharing
from ._tensor import Tensor, method


def _rebuild(cls, data, dtype, sizes, device, requires_grad, attributes):
    from ._dispatch import StateOff
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


def is_sent(obj):
    """Whether multiprocessing, or a DataLoader's worker, pickles `obj` to send it to a process, which then shares its memory; called
    by what pickles it.  That pickler is C code, so the caller of the methods of `obj` is the function that made it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_locals.get("self") is obj:
        frame = frame.f_back
    if frame is None:
        return False
    return frame.f_globals.get("__name__") == "multiprocessing.reduction" or "_shares_memory_of_gpus" in frame.f_globals


def _parameter():
    from .nn.parameter import Parameter
    return Parameter


def _has_nothing_to_share(tensor):
    """Whether a tensor is of the CPU and has no elements."""
    return tensor.is_cpu and not tensor.numel()


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
    from ._dispatch import slots_of
    return slots_of(tensor)


def _set_state(tensor, state):
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    tensor.__dict__.update(attributes or {})
    for name, value in slots.items():
        if not isinstance(getattr(type(tensor), name, None), types.MemberDescriptorType):  # a file may say anything
            raise ValueError(f"{type(tensor).__name__} has no slot {name!r}")
        setattr(tensor, name, value)


@method
def __reduce_ex__(self, protocol):
    if _C._has_no_memory(self):
        from ._utils import _rebuild_wrapper_subclass
        arguments = (type(self), self.dtype, tuple(self.shape), self.stride(), self.storage_offset(), self.layout, self.device,
                     self.requires_grad)
        return _rebuild_from_type_v2, (_rebuild_wrapper_subclass, type(self), arguments, state_of(self))
    if self.is_cuda and is_sent(self):
        return _sharing.reductions().gpu_memory.reduce(self)
    if "multiprocessing.reduction" in sys.modules and type(self) in (Tensor, _parameter()) and not _has_nothing_to_share(self) and is_sent(self):
        return _sharing.reductions().reduce_tensor(self)  # importing it has told multiprocessing how the next one is sent
    # The elements in row-major order: views become tensors of their own.  torch.save keeps what storages share.
    if self.is_meta:
        from ._utils import _rebuild_meta_tensor_no_storage
        made = _rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)
        return _rebuild_from_type_v2, (made[0], type(self), made[1], state_of(self))
    data, state = _C._to_bytes(self.detach().cpu().contiguous()), state_of(self)
    what = data, self.dtype, tuple(self.shape), str(self.device), self.requires_grad
    if type(state) is not dict:
        return _rebuild_from_type_v2, (_rebuild, type(self), (type(self), *what, {}), state)
    return _rebuild, (type(self), *what, state)


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


@method
def __deepcopy__(self, memo):
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                           "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                           "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
    with _C_no_grad():
        if _C._intercepts(self):  # its clone() is of the class, or says why not
            result = self.clone()
            if type(result) is not type(self):
                raise RuntimeError("The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that "
                                   "properly implement clone() and for which cloning returns another instance of the same subclass. "
                                   f"clone() gave a {type(result).__name__}.")
            result = result.detach().requires_grad_(self.requires_grad)
            given = {k: v for k, v in self.__dict__.items() if k not in result.__dict__}
            memo[id(self)] = result
            result.__dict__.update(copy.deepcopy(given, memo))
            _copy_slots(self, result, memo)
            if self.grad is not None:
                result.grad = copy.deepcopy(self.grad, memo)
            return result
        result = _restore(type(self), _copied(self.detach(), memo), self.requires_grad, None)
    memo[id(self)] = result
    result.__dict__.update(copy.deepcopy(self.__dict__, memo))
    _copy_slots(self, result, memo)
    if self.grad is not None:
        result.grad = copy.deepcopy(self.grad, memo)
    return result


def _copy_slots(tensor, result, memo):
    for name, value in _slots_of(tensor).items():
        if not hasattr(result, name):
            setattr(result, name, copy.deepcopy(value, memo))


def _copied(data, memo):
    """A copy of a tensor that shares its memory with the copies of all that `data` shares it with."""
    if data.is_meta or not data.numel():
        return data.clone()
    return copy.deepcopy(data.untyped_storage(), memo)._tensor_over(data.dtype).as_strided(
        data.shape, data.stride(), data.storage_offset()).detach()


@method
def __copy__(self):
    """Another tensor over the same memory, with the same attributes."""
    with _C_no_grad():
        result = _restore(type(self), self.detach(), self.requires_grad, self.__dict__)
        for name, value in _slots_of(self).items():
            setattr(result, name, value)
        return result


def _C_no_grad():
    from .autograd.grad_mode import no_grad
    return no_grad()


for _function in (_rebuild, _rebuild_from_type_v2, _restore):
    _function.__module__ = method.__module__  # files name them there, as PyTorch's do
