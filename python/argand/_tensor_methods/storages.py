"""The memory of tensors."""
import weakref

from .. import _C, _sharing
from .._ignored import harmless
from .._dtypes import STORAGE_TYPES
from .._typed_storage import ON_CPU, on_gpus
from ..storage import TypedStorage, UntypedStorage, _warn_typed_storage_removal

Tensor = _C.Tensor
_storages = weakref.WeakValueDictionary()  # by number; each keeps a tensor of its memory, so that the number stays its own


class Storages:
    """Storages, other memory for a tensor, and memory that processes or streams share."""

    def untyped_storage(self):
        """The bytes behind this tensor: the same object for as long as somebody holds it."""
        number = _C._storage_id(self)
        known = _storages.get(number)
        if known is None or known.nbytes() != _C._storage_nbytes(self):
            known = _storages[number] = UntypedStorage(self)
        return known

    def storage(self):
        """The elements behind this tensor and its views, in the order in which they lie."""
        _warn_typed_storage_removal()
        return self._typed_storage()

    def _typed_storage(self):
        return TypedStorage(wrap_storage=UntypedStorage(self), dtype=self.dtype, _internal=True)

    def storage_type(self):
        """The class of its storage(), torch.FloatStorage or the like."""
        kind = STORAGE_TYPES[self.dtype]
        return (on_gpus() if self.is_cuda else ON_CPU)[kind]

    def set_(self, source=None, storage_offset=None, size=None, stride=None):
        """Makes the tensor one over the memory of a tensor or a storage, with these sizes and strides, or of no elements."""
        whole = storage_offset is None and size is None and stride is None
        if not whole and (source is None or storage_offset is None or size is None):
            raise TypeError("set_() received an invalid combination of arguments: expected (), (source) or (source, storage_offset, size, "
                            "stride)")
        storage_offset = storage_offset or 0
        if source is None:
            source = _C.empty(0, dtype=self.dtype, device=self.device)
        elif size is not None or not isinstance(source, Tensor):
            elements = source.detach() if isinstance(source, Tensor) else source._tensor_over(self.dtype)
            size = (elements.numel() - storage_offset,) if size is None else size
            stride = _C.empty(size, device="meta").stride() if stride is None else stride
            source = elements.as_strided(size, stride, storage_offset)
        if source.dtype is not self.dtype:
            raise _C.DtypeError(f"set_: expected a source of {self.dtype}, got one of {source.dtype}")
        if source.device != self.device:
            raise _C.DeviceError(f"set_: expected a source on {self.device}, got one on {source.device}")
        self.data = source
        return self

    def as_strided_(self, size, stride, storage_offset=None):
        """as_strided() of the tensor itself; elements stay where they are."""
        _C._become_strided(self, self.as_strided(size, stride, storage_offset))
        return self

    def _fix_weakref(self):
        """What PyTorch needs after a weak reference was followed: here such a tensor is as any."""

    def is_set_to(self, tensor):
        """Whether both are the same elements of the same storage."""
        return (self.untyped_storage() == tensor.untyped_storage() and self.storage_offset() == tensor.storage_offset()
                and self.shape == tensor.shape and self.stride() == tensor.stride())

    def share_memory_(self):
        """Moves the storage, for all its views, to memory that other processes see, too, when the tensor is sent to them or they are forked.
        Where an array shows the memory, the tensor alone moves.  A GPU's stay where they are: that memory is shared as it is."""
        if not self.is_cuda:
            _sharing.reductions().share(self)
        return self

    def is_shared(self):
        """Whether other processes see what is written: after share_memory_(), and on a GPU always, but where the driver cannot share memory."""
        return _sharing.reductions().is_shared(self)

    @harmless(stream="memory is given back when all streams that used it are done with it, without being told")
    def record_stream(self, stream):
        """Accepted: memory is given back when all streams that used it are done with it, without being told."""
        if not self.is_cuda:
            raise RuntimeError(f"record_stream: expected a tensor on a GPU, got one on {self.device}")
