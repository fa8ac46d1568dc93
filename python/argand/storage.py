"""The memory behind tensors: as bytes (UntypedStorage) and as elements of a dtype (TypedStorage)."""
import os

from . import _C
from ._ignored import harmless


def over(buffer):
    """A tensor of the bytes of a buffer: its memory where that may be written, a copy else."""
    view = memoryview(buffer).cast("B")
    if view.readonly or not view.nbytes:
        return _C._from_bytes(bytes(view), _C.uint8)
    import ctypes  # takes longer than all else here
    memory = (ctypes.c_char * view.nbytes).from_buffer(view)
    return _C.from_numpy(_Memory(ctypes.addressof(memory), view.nbytes, memory))


class _Memory:
    """Bytes at an address, which `owner` keeps, in the way in which arrays are described."""

    def __init__(self, address, nbytes, owner):
        self.owner = owner
        self.description = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}

    @property
    def __array_interface__(self):
        return self.description


def _bytes_of(tensor):
    """A tensor of all bytes of the storage of `tensor`."""
    tensor = tensor.detach()
    return tensor.as_strided((_C._storage_nbytes(tensor) // tensor.itemsize,), (1,), 0).view(_C.uint8)


_ALL_GPUS = "memory is page-locked for all GPUs"


class _Storage:
    """What both kinds of storages have: `_elements`, a tensor of one dimension over the memory."""

    _elements: _C.Tensor

    def __len__(self):
        return self._elements.numel()

    def size(self):
        """How many elements there are."""
        return len(self)

    def nbytes(self):
        """How many bytes there are."""
        return self._elements.nbytes

    def element_size(self):
        """Bytes of one element."""
        return self._elements.itemsize

    def data_ptr(self):
        """The address of the first byte."""
        return self._elements.data_ptr()

    @property
    def device(self):
        """Where the memory is."""
        return self._elements.device

    @property
    def is_cuda(self):
        """Whether the memory is a GPU's."""
        return self._elements.is_cuda

    def get_device(self):
        """The index of the GPU; -1 on the CPU."""
        return self._elements.get_device()

    def __getitem__(self, index):
        return self._elements[index].item()

    def __setitem__(self, index, value):
        self._elements[index] = value._elements if isinstance(value, _Storage) else value

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """The elements as a list."""
        return self._elements.tolist()

    def fill_(self, value):
        """Writes `value` to all elements."""
        self._elements.fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Writes the elements of another storage of the same size."""
        self._elements.copy_(source._elements, non_blocking)
        return self

    def _like(self, elements):
        raise NotImplementedError

    def clone(self):
        """A copy."""
        return self._like(self._elements.clone())

    def to(self, *, device, non_blocking=False):
        """The storage on `device`; itself, if it is there."""
        moved = self._elements.to(device, non_blocking=non_blocking)
        return self if moved is self._elements else self._like(moved)

    def cpu(self):
        """The storage on the CPU."""
        return self.to(device="cpu")

    def cuda(self, device=None, non_blocking=False):
        """The storage on a GPU, the current one if none is named."""
        return self.to(device="cuda" if device is None else _C.device("cuda", device) if isinstance(device, int) else device,
                       non_blocking=non_blocking)

    @harmless(device=_ALL_GPUS)
    def is_pinned(self, device="cuda"):
        """Whether the memory is page-locked."""
        return self._elements.is_pinned()

    @harmless(device=_ALL_GPUS)
    def pin_memory(self, device="cuda"):
        """The storage in page-locked memory."""
        return self if self.is_pinned() else self._like(self._elements.pin_memory())

    def is_shared(self):
        """Whether other processes see what is written: see Tensor.share_memory_()."""
        return self._elements.is_shared()

    def __sizeof__(self):
        return object.__sizeof__(self) + self.nbytes()

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = self.clone()
        return memo[id(self)]

    def __repr__(self):
        kind = type(self).__name__
        dtype = "" if isinstance(self, UntypedStorage) else f"dtype={self._elements.dtype}, "
        return "".join(f" {v}\n" for v in self) + f"[torch.storage.{kind}({dtype}device={self.device}) of size {len(self)}]"


class UntypedStorage(_Storage):
    """Bytes: as many as are named (not initialised), those of a list, or those behind a tensor and its views."""

    def __init__(self, *args, device=None):
        if len(args) > 1:
            raise TypeError(f"UntypedStorage() takes at most 1 argument, got {len(args)}")
        source = args[0] if args else 0
        self.filename = None
        if isinstance(source, _C.Tensor):
            self._source, self._bytes = source, None
        elif isinstance(source, int):
            self._source = self._bytes = _C.empty(source, dtype=_C.uint8, device=device)
        else:
            self._source = self._bytes = _C.tensor(list(source), dtype=_C.uint8, device=device)

    @property
    def _elements(self):
        if self._bytes is None:  # only now: most storages are asked for an address and compared
            self._bytes = _bytes_of(self._source)
        return self._bytes

    def _like(self, elements):
        return UntypedStorage(elements)

    @staticmethod
    def from_file(filename, shared=False, nbytes=0):
        """The first `nbytes` bytes of a file, mapped.  shared: what is written goes to the file, which is made or made longer where it
        needs to be; else it goes to memory alone.  The file must not become shorter while the storage lives."""
        path = os.fsdecode(filename)
        import mmap
        import stat
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY | os.O_NONBLOCK, 0o666)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise RuntimeError(f"UntypedStorage.from_file: expected a regular file, got {path}")
            if status.st_size < nbytes:
                if not shared:
                    raise RuntimeError(f"UntypedStorage.from_file: expected {nbytes} bytes in {path}, which has {status.st_size}")
                os.truncate(descriptor, nbytes)
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            held = over(mmap.mmap(descriptor, nbytes, access=access) if nbytes else b"")
        finally:
            os.close(descriptor)
        storage = UntypedStorage(held)
        storage._bytes = held
        storage.filename = path
        return storage

    def data_ptr(self):
        """The address of the first byte."""
        if self._bytes is not None:
            return self._bytes.data_ptr()
        return self._source.data_ptr() - self._source.storage_offset() * self._source.itemsize

    def nbytes(self):
        """How many bytes there are."""
        return _C._storage_nbytes(self._source) if self._bytes is None else self._bytes.numel()

    size = __len__ = nbytes

    @property
    def device(self):
        """Where the bytes are."""
        return self._source.device

    def __getitem__(self, index):
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            part = self._elements[index]
            if part.device.type == "cpu" and part.numel():
                part = _C.from_numpy(_Memory(part.data_ptr(), part.numel(), part))  # a storage of its own, as in PyTorch
            storage = UntypedStorage(part)
            storage._bytes = part
            return storage
        return self._elements[index].item()

    def untyped(self):
        """Itself."""
        return self

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self._cdata == other._cdata

    def __hash__(self):
        return hash(self._cdata)

    @property
    def _cdata(self):
        whole = self._bytes is None or self._bytes.numel() == _C._storage_nbytes(self._source)
        return _C._storage_id(self._source) if whole else self.data_ptr()

    def __reduce__(self):
        if self.is_cuda:
            from ._tensor import is_sent
            if is_sent(self):
                return UntypedStorage, (self._elements,)
        return _rebuild, (_C._to_bytes(self._elements.cpu()), str(self.device))


def _rebuild(data, device):
    return UntypedStorage(_C._from_bytes(data, _C.uint8).to(device))


class TypedStorage(_Storage):
    """The memory behind a tensor as elements of its dtype: what tensor.storage() gives, and programs for old releases expect."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        dtype = dtype or _C.get_default_dtype()
        if wrap_storage is not None:
            self._elements = tensor_over(wrap_storage, dtype)
        elif args and not isinstance(args[0], int):
            self._elements = _C.tensor(list(args[0]), dtype=dtype, device=device)
        else:
            self._elements = _C.empty(args[0] if args else 0, dtype=dtype, device=device)

    @classmethod
    def over(cls, elements):
        """The storage of a tensor of one dimension, which is all of it; none of its elements is looked at."""
        storage = cls.__new__(cls)
        storage._elements = elements
        return storage

    def _like(self, elements):
        return TypedStorage(wrap_storage=UntypedStorage(elements), dtype=elements.dtype)

    @property
    def dtype(self):
        """Of the elements."""
        return self._elements.dtype

    def untyped(self):
        """Its bytes."""
        return UntypedStorage(self._elements)

    _untyped_storage = property(untyped)

    def __eq__(self, other):
        return isinstance(other, TypedStorage) and self.dtype == other.dtype and self.untyped() == other.untyped()

    def __hash__(self):
        return hash(self.untyped())

    @property
    def _cdata(self):
        return self.untyped()._cdata


def _load_from_bytes(data):
    """The storage that stands in a plain pickle of a tensor of PyTorch's, as a file of its older format."""
    import io
    import re
    from ._more import storages
    from .serialization import load
    kind = re.search(rb"ctorch\n(\w+Storage)\n", data)
    if kind is None:
        raise ValueError("_load_from_bytes(): expected a storage that PyTorch has pickled")
    return TypedStorage(wrap_storage=load(io.BytesIO(data)), dtype=storages("cpu")[kind[1].decode()].dtype)


def tensor_over(storage, dtype):
    """A tensor of one dimension over the memory of a storage; a copy where elements of `dtype` would not lie at multiples of their size."""
    if isinstance(storage, TypedStorage):
        storage = storage.untyped()
    elements = storage._elements
    size = dtype.itemsize if dtype is not _C.uint8 else 8  # bytes are viewed as elements by and by
    elements = elements[:elements.numel() // dtype.itemsize * dtype.itemsize]
    misplaced = not elements.is_meta and (elements.data_ptr() % size or elements.storage_offset() % size)
    return (elements.clone() if misplaced else elements).view(dtype)
