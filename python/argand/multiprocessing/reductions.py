"""Tensors in memory that several processes see: share_memory_(), and how tensors are sent to other processes.

A tensor that is sent is first moved, with its whole storage, to such memory, so that each side sees what the other writes.  The memory is
anonymous (memfd): its descriptor is sent, and nothing remains when the last process ends.  See argand/runtime/cpu/shared_blocks.h.
"""
from multiprocessing import reduction

# What multiprocessing imports in the threads that send descriptors: a child forked while one does would wait for ever.
import hmac  # noqa: F401
from multiprocessing import resource_sharer  # noqa: F401

from .. import _C
from .._copies import _restore
from ..nn.parameter import Parameter
from ..utils.hooks import warn_if_has_hooks
from . import gpu_memory


def is_shared(tensor):
    """Whether other processes to which the tensor is sent see what is written to it."""
    if tensor.is_cuda:
        return gpu_memory.is_shared(tensor)
    return tensor.is_cpu and not _C._has_no_memory(tensor) and _C._shared_descriptor(tensor) >= 0


def share(tensor):
    """Moves the storage of a tensor to shared memory; where that cannot move, because an array shows it, the tensor gets another one."""
    if not tensor.is_cpu or not _C._storage_nbytes(tensor):
        return
    if not is_shared(tensor) and not _C._storage_resizable(tensor):
        size = tensor.itemsize
        whole = tensor.detach().as_strided((_C._storage_nbytes(tensor) // size,), (1,), 0).clone()
        tensor.data = whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    _C._share_storage(tensor)


def _rebuild(cls, descriptor, nbytes, dtype, shape, stride, offset, requires_grad, attributes):
    tensor = _C._map_shared(descriptor.detach(), nbytes)
    tensor = tensor[:nbytes // dtype.itemsize * dtype.itemsize].view(dtype).as_strided(shape, stride, offset)
    return _restore(cls, tensor, requires_grad, attributes)


def _rebuild_meta(cls, dtype, shape, stride, requires_grad, attributes):
    return _restore(cls, _C.empty_strided(shape, stride, dtype=dtype, device="meta"), requires_grad, attributes)


def _reduce(tensor):
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
                           "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
                           "(e.g., putting it on the queue).")
    warn_if_has_hooks(tensor)
    if tensor.is_cuda:
        return gpu_memory.reduce(tensor)
    if tensor.is_meta:
        return _rebuild_meta, (type(tensor), tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad, dict(tensor.__dict__))
    if not tensor.numel():
        return tensor.__reduce_ex__(reduction.pickle.HIGHEST_PROTOCOL)
    share(tensor)
    descriptor = reduction.DupFd(_C._shared_descriptor(tensor))
    return _rebuild, (type(tensor), descriptor, _C._storage_nbytes(tensor), tensor.dtype, tuple(tensor.shape), tensor.stride(),
                      tensor.storage_offset(), tensor.requires_grad, dict(tensor.__dict__))


reduce_tensor = _reduce  # PyTorch's name


for _cls in (_C.Tensor, Parameter):
    reduction.ForkingPickler.register(_cls, _reduce)


class StorageWeakRef:
    """The identity of a storage, and whether anybody else still holds it.  Unlike PyTorch's, it keeps the memory alive, so that no
    other storage can get the same address."""

    def __init__(self, storage):
        self.cdata, self._own = storage._cdata, storage.untyped()._source.detach()

    def expired(self):
        """Whether nobody else holds the storage."""
        return _C._storage_use_count(self._own) == 1

    def __hash__(self):
        return self.cdata

    def __eq__(self, other):
        return isinstance(other, StorageWeakRef) and self.cdata == other.cdata
