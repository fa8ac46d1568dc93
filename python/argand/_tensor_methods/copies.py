"""How tensors are copied and pickled."""
import copy
import sys

from .. import _C, _sharing
from .._copies import (_rebuild, _rebuild_from_type_v2, _rebuild_meta_tensor_no_storage, _rebuild_wrapper_subclass, _restore, _slots_of,
                       state_of)
from .._sharing import is_sent
from ..autograd.grad_mode import no_grad

Tensor = _C.Tensor


def _parameter():
    from ..nn.parameter import Parameter  # upward: a parameter without attributes is sent as a tensor is
    return Parameter


def _has_nothing_to_share(tensor):
    """Whether a tensor is of the CPU and has no elements."""
    return tensor.is_cpu and not tensor.numel()


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


class Copies:
    """The methods that copy and pickle call."""

    def __reduce_ex__(self, protocol):
        if _C._has_no_memory(self):
            arguments = (type(self), self.dtype, tuple(self.shape), self.stride(), self.storage_offset(), self.layout, self.device,
                         self.requires_grad)
            return _rebuild_from_type_v2, (_rebuild_wrapper_subclass, type(self), arguments, state_of(self))
        if self.is_cuda and is_sent(self):
            return _sharing.reductions().gpu_memory.reduce(self)
        if "multiprocessing.reduction" in sys.modules and type(self) in (Tensor, _parameter()) and not _has_nothing_to_share(self) and is_sent(self):
            return _sharing.reductions().reduce_tensor(self)  # importing it has told multiprocessing how the next one is sent
        # The elements in row-major order: views become tensors of their own.  torch.save keeps what storages share.
        if self.is_meta:
            made = _rebuild_meta_tensor_no_storage, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)
            return _rebuild_from_type_v2, (made[0], type(self), made[1], state_of(self))
        data, state = _C._to_bytes(self.detach().cpu().contiguous()), state_of(self)
        what = data, self.dtype, tuple(self.shape), str(self.device), self.requires_grad
        if type(state) is not dict:
            return _rebuild_from_type_v2, (_rebuild, type(self), (type(self), *what, {}), state)
        return _rebuild, (type(self), *what, state)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                               "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                               "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
        with no_grad():
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

    def __copy__(self):
        """Another tensor over the same memory, with the same attributes."""
        with no_grad():
            result = _restore(type(self), self.detach(), self.requires_grad, self.__dict__)
            for name, value in _slots_of(self).items():
                setattr(result, name, value)
            return result
