"""What tensors and parameters are made with in files of torch.save."""
from .. import _C
from .._dispatch import StateOff
from .._typed_storage import TypedStorage
from .._untyped_storage import tensor_over
from ..nn.parameter import Parameter


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a storage of a dtype."""
    return _over(storage, storage._dtype, storage_offset, size, stride)


def _over(storage, dtype, offset, size, stride):
    same = isinstance(storage, TypedStorage) and storage._dtype is dtype  # then no element is looked at: it may be read later
    with StateOff():  # modes are shown the tensor that was made
        elements = storage._elements if same else tensor_over(storage, dtype)
        made = elements.as_strided(tuple(size), tuple(stride), offset).detach()
    return _C._shown(made)


def _marked(tensor, metadata, requires_grad):
    """What a tensor that was saved as a conjugate or a negative of its memory is."""
    for mark, is_set in (metadata or {}).items():
        if mark not in ("conj", "neg"):
            raise ValueError(f"load: a tensor with the mark {mark!r:.20}")
        tensor = (tensor.conj() if mark == "conj" else tensor.neg()) if is_set else tensor
    return tensor.requires_grad_(requires_grad)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """What a pickled tensor is made with; it has no hooks."""
    return _marked(_rebuild_tensor(storage, storage_offset, size, stride), metadata, requires_grad)


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    """What a pickled tensor is made with whose storage is of bytes."""
    return _marked(_over(storage, dtype, storage_offset, size, stride), metadata, requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    """What a pickled parameter is made with; it has no hooks."""
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    """What a pickled parameter with attributes is made with."""
    param = Parameter(data, requires_grad)
    param.__dict__.update(state or {})
    return param
