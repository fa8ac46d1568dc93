"""Tensors in memory that several processes see: share_memory_(), and how such tensors are sent to other processes.

The memory is anonymous (memfd): its descriptor travels, and nothing is left behind when the last process ends.
"""
import mmap
import os
import weakref
from multiprocessing import reduction

# What multiprocessing imports in the threads that send descriptors: a child forked while one does would wait for ever.
import hmac  # noqa: F401
from multiprocessing import resource_sharer  # noqa: F401

from .. import _C
from .._tensor import _restore
from ..nn.parameter import Parameter
from ..storage import over

_descriptors = {}  # address of shared memory that this process has mapped -> its descriptor


def _map(descriptor, nbytes):
    """A tensor of the bytes behind a descriptor, which it closes when the memory is no longer used."""
    memory = mmap.mmap(descriptor, nbytes)
    held = over(memory)
    address = held.data_ptr()
    _descriptors[address] = descriptor

    def forget():
        del _descriptors[address]
        os.close(descriptor)
    weakref.finalize(memory, forget).atexit = False
    return held


def _address(tensor):
    return tensor.data_ptr() - tensor.storage_offset() * tensor.itemsize


def is_shared(tensor):
    """Whether other processes to which the tensor is sent see what is written to it."""
    if tensor.is_cuda:
        from . import gpu_memory
        return gpu_memory.is_shared(tensor)
    return tensor.is_cpu and bool(tensor.numel()) and _address(tensor) in _descriptors


def share(tensor):
    """Moves the elements of a tensor to shared memory."""
    if is_shared(tensor) or not tensor.numel():
        return
    nbytes = _C._storage_nbytes(tensor) // tensor.itemsize * tensor.itemsize
    descriptor = os.memfd_create("argand")
    os.truncate(descriptor, nbytes)
    elements = _map(descriptor, nbytes).view(tensor.dtype)
    elements.copy_(tensor.detach().as_strided((nbytes // tensor.itemsize,), (1,), 0))
    tensor.data = elements.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _rebuild(cls, descriptor, nbytes, dtype, shape, stride, offset, requires_grad, attributes):
    tensor = _map(descriptor.detach(), nbytes).view(dtype).as_strided(shape, stride, offset)
    return _restore(cls, tensor, requires_grad, attributes)


def _reduce(tensor):
    if tensor.is_cuda:
        from . import gpu_memory
        return gpu_memory.reduce(tensor)
    if not is_shared(tensor) or not tensor.is_leaf:
        return tensor.__reduce_ex__(reduction.pickle.HIGHEST_PROTOCOL)
    descriptor = reduction.DupFd(_descriptors[_address(tensor)])
    return _rebuild, (type(tensor), descriptor, _C._storage_nbytes(tensor), tensor.dtype, tuple(tensor.shape), tensor.stride(),
                      tensor.storage_offset(), tensor.requires_grad, dict(tensor.__dict__))


reduce_tensor = _reduce  # PyTorch's name


for _cls in (_C.Tensor, Parameter):
    reduction.ForkingPickler.register(_cls, _reduce)


class StorageWeakRef:
    """Which storage it is, and whether somebody else has it still.  Unlike PyTorch's it keeps the memory until it goes itself, so
    that no other storage is taken for it."""

    def __init__(self, storage):
        self.cdata, self._own = storage._cdata, storage.untyped()._source.detach()

    def expired(self):
        """Whether nobody else has the storage."""
        return _C._storage_use_count(self._own) == 1

    def __hash__(self):
        return self.cdata

    def __eq__(self, other):
        return isinstance(other, StorageWeakRef) and self.cdata == other.cdata
