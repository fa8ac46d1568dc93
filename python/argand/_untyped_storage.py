"""The memory behind tensors as bytes: UntypedStorage, and what it shares with TypedStorage (_typed_storage.py)."""
import operator
import os
import sys

from . import _C
from ._buffers import _Memory, frombuffer
from ._ignored import harmless
from ._sharing import is_sent


def _bytes_of(tensor):
    """A tensor of all bytes of the storage of `tensor`."""
    return _C._storage_bytes(tensor)


def _is_alias_of(a, b):
    """Whether two tensors share memory."""
    return _C._storage_id(a) == _C._storage_id(b)  # not data_ptr(), after which launches on the memory are not held back


_ALL_GPUS = "memory is page-locked for all GPUs"


class _Storage:
    """What both kinds of storages have: `_elements`, a tensor of one dimension over the memory."""

    _elements: _C.Tensor

    def __len__(self):
        return self._elements.numel()

    def size(self):
        """How many elements there are."""
        return self._elements.numel()

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

    def _place(self, index):
        """The number of an element, from 0 on."""
        if not isinstance(index, int):
            try:
                index = operator.index(index)
            except TypeError:
                raise RuntimeError(f"can't index a {type(self)} with {type(index)}") from None
        if not -len(self._elements) <= index < len(self._elements):
            raise IndexError(f"index {index} out of range for storage of size {len(self._elements)}")
        return index % len(self._elements)

    def _check_data(self):
        if self._elements.is_meta:
            raise NotImplementedError("Not available for 'meta' device type")

    def __getitem__(self, index):
        self._check_data()
        return self._elements[self._place(index)].item()

    def __setitem__(self, index, value):
        self._check_data()
        if not isinstance(value, (int, float, complex, list, tuple)):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._elements[index if isinstance(index, slice) else self._place(index)] = value

    def __iter__(self):
        return iter(_Storage.tolist(self))

    def tolist(self):
        """The elements as a list."""
        self._check_data()
        return self._elements.tolist()

    def fill_(self, value):
        """Writes `value` to all elements."""
        if isinstance(value, _Storage):
            raise RuntimeError(f"cannot set item with value type {type(value)}")
        self._elements.fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Writes the elements of another storage of the same size."""
        _check_can_copy(source)
        to, given = self._elements.nbytes, source._elements.nbytes
        if given != to and type(source) is type(self):
            raise RuntimeError(f"size does not match, self was {to} bytes but src was {given} bytes")
        self._elements.copy_(source._elements, bool(non_blocking))
        return self

    def resize_(self, size):
        """More elements; those that were there stay, the new ones hold anything.  A storage does not become smaller."""
        _C._grow_storage(self._elements, size * self._elements.itemsize)
        return self

    def resizable(self):
        """Whether resize_() may move the elements: no array and no capsule shows them."""
        return _C._storage_resizable(self._elements)

    def _like(self, elements):
        raise NotImplementedError

    def clone(self):
        """A copy."""
        return self._like(self._elements.clone())

    def to(self, *, device, non_blocking=False):
        """The storage on `device`; itself, if it is there."""
        if _C.device(device).type != "meta":
            _check_can_copy(self)
        moved = self._elements.to(device, non_blocking=non_blocking)
        return self if moved is self._elements else self._like(moved)

    def cpu(self):
        """The storage on the CPU."""
        return _Storage.to(self, device="cpu")

    def cuda(self, device=None, non_blocking=False):
        """The storage on a GPU, the current one if none is named."""
        return _Storage.to(self, device="cuda" if device is None else _C.device("cuda", device) if isinstance(device, int) else device,
                           non_blocking=non_blocking)

    @harmless(device=_ALL_GPUS)
    def is_pinned(self, device="cuda"):
        """Whether the memory is page-locked."""
        return self._elements.is_pinned()

    @harmless(device=_ALL_GPUS)
    def pin_memory(self, device="cuda"):
        """The storage in page-locked memory."""
        if not self._elements.is_cpu:
            raise TypeError(f"cannot pin '{self.type()}' only CPU memory can be pinned")
        return self if self._elements.is_pinned() else self._like(self._elements.pin_memory())

    def is_shared(self):
        """Whether other processes see what is written: see Tensor.share_memory_()."""
        return self._elements.is_shared()

    def share_memory_(self):
        """Moves the memory, for all tensors that lie in it, to where other processes see it, too: see Tensor.share_memory_()."""
        if not self._elements.is_cpu and not self._elements.is_cuda:
            raise RuntimeError("share_memory_: only available on CPU")
        if not self._elements.is_shared() and self._elements.numel():
            _C._share_storage(self._elements)
        return self

    def _write_file(self, *_, **__):
        _check_can_copy(self)
        raise NotImplementedError("_write_file: torch.save writes storages")

    def _share_fd_cpu_(self, *_, **__):
        raise RuntimeError("_share_fd_: only available on CPU, through torch.multiprocessing")

    def _share_filename_cpu_(self, *_, **__):
        raise RuntimeError("_share_filename_: only available on CPU, through torch.multiprocessing")

    def __copy__(self):
        return _Storage.clone(self)

    def __sizeof__(self):
        return object.__sizeof__(self) + self._elements.nbytes

    def __deepcopy__(self, memo):
        copies = memo.setdefault("torch", {})  # by the memory, which storages and tensors share
        if self._cdata not in copies:
            copies[self._cdata] = UntypedStorage(_bytes_of(self._elements).clone())
        return self._over(copies[self._cdata])

    def __repr__(self):
        kind, elements = type(self).__name__, self._elements
        dtype = "" if isinstance(self, UntypedStorage) else f"dtype={elements.dtype}, "
        text = "...\n" if elements.is_meta else "".join(f" {v}\n" for v in elements.tolist())
        return text + f"[torch.storage.{kind}({dtype}device={elements.device}) of size {len(elements)}]"


def _check_can_copy(storage):
    if storage._elements.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")


class StorageBase:
    """The base of PyTorch's storages of bytes."""

    @harmless(args="__init__ reads them", kwargs="__init__ reads them")
    def __new__(cls, *args, **kwargs):
        if cls is StorageBase:
            raise RuntimeError("Cannot directly construct StorageBase; subclass it and then construct that")
        return super().__new__(cls)


class UntypedStorage(StorageBase, _Storage):
    """Bytes: as many as are named (not initialised), those of a list, or those behind a tensor and its views."""

    def __init__(self, *args, device=None):
        if len(args) > 1:
            raise TypeError(f"UntypedStorage() takes at most 1 argument, got {len(args)}")
        source = args[0] if args else 0
        if hasattr(type(source), "__index__") and not isinstance(source, _C.Tensor):
            source = operator.index(source)
        elif isinstance(source, UntypedStorage):
            source = source._elements
        if isinstance(source, _C.Tensor):
            self._source, self._bytes = source, None
        elif isinstance(source, int):
            self._source = self._bytes = _C.empty(source, dtype=_C.uint8, device=device)
        else:
            for item in source:
                if not isinstance(item, int):
                    raise RuntimeError("torch.UntypedStorage(): tried to construct a storage from a sequence "
                                    f"({type(source).__name__}), but one of the items was of type {type(item).__name__} instead of int")
            self._source = self._bytes = _C.tensor([item % 256 for item in source], dtype=_C.uint8, device=device)

    @property
    def _elements(self):
        if self._bytes is None:  # only now: most storages are asked for an address and compared
            self._bytes = _bytes_of(self._source)
        return self._bytes

    def _like(self, elements):
        return UntypedStorage(elements)

    def _over(self, storage):
        return storage

    @staticmethod
    def from_file(filename, shared=False, nbytes=0):
        """The first `nbytes` bytes of a file, mapped.  shared: what is written goes to the file, which is made or made longer where it
        needs to be; else it goes to memory alone.  If the file becomes shorter, or cannot be read, each use of the storage is an error."""
        path = os.fsdecode(filename)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY | os.O_NONBLOCK, 0o666)
        if nbytes:
            return UntypedStorage(_C._map_file(descriptor, os.fsencode(path), nbytes, bool(shared)))
        os.close(descriptor)
        return UntypedStorage(0)

    @property
    def filename(self):
        """The path of the file that the bytes are those of; None if they are memory."""
        path = _C._path_of_mapped(self._source)
        return os.fsdecode(path) if path else None

    def data_ptr(self):
        """The address of the first byte."""
        return self._elements.data_ptr()

    def nbytes(self):
        """How many bytes there are."""
        return _C._storage_nbytes(self._source) if self._bytes is None else self._bytes.numel()

    size = __len__ = nbytes

    @property
    def device(self):
        """Where the bytes are."""
        return self._source.device

    def resize_(self, size):
        """More bytes; those that were there stay, the new ones hold anything.  A storage does not become smaller."""
        _C._grow_storage(self._elements, size)
        self._bytes = None if self._bytes is None else _bytes_of(self._source)
        return self

    def new(self):
        """A storage of no bytes on the same device."""
        return UntypedStorage(0, device=self.device)

    def type(self, dtype=None, non_blocking=False):
        """The name of the type; with a type, the bytes copied to its device."""
        if dtype is None:
            # harmless(non_blocking): nothing is copied
            return ("torch.cuda." if self.is_cuda else "torch.storage.") + type(self).__name__
        return self.cuda(non_blocking=non_blocking) if "cuda" in str(dtype) else self.cpu()

    def byteswap(self, dtype):
        """The bytes of each element of that dtype in reverse; of each half of a complex number."""
        size = dtype.itemsize // (2 if dtype.is_complex else 1)
        if size > 1:
            elements = self._elements[:len(self) // size * size]
            elements.copy_(elements.view(-1, size).flip(-1).reshape(-1))

    @classmethod
    def from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, *, dtype=_C.uint8):
        """A copy of the elements in an object with memory, in this machine's order of bytes ("native"), "little" or "big"."""
        return UntypedStorage(elements_in(buffer, byte_order, count, offset, dtype))

    def __getitem__(self, index):
        if isinstance(index, slice):
            self._check_data()
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            part = self._elements[index]
            if part.device.type == "cpu" and part.numel():
                part = _C.from_numpy(_Memory(part.data_ptr(), part.numel(), part))  # a storage of its own, as in PyTorch
            storage = UntypedStorage(part)
            storage._bytes = part
            return storage
        return super().__getitem__(index)

    def _fix_weakref(self):
        """What PyTorch needs after a weak reference was followed: here such a storage is as any."""

    def untyped(self):
        """The storage itself."""
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
        if (self.is_cuda or len(self)) and is_sent(self):
            return UntypedStorage, (self._elements,)
        return _rebuild, (_C._to_bytes(self._elements.cpu()), str(self.device))


def _rebuild(data, device):
    return UntypedStorage(_C._from_bytes(data, _C.uint8).to(device))


def tensor_over(storage, dtype):
    """A tensor of one dimension over the memory of a storage; a copy where elements of `dtype` would not lie at multiples of their size."""
    elements = _bytes_of(storage._elements)
    size = dtype.itemsize if dtype is not _C.uint8 else 8  # bytes are viewed as elements by and by
    elements = elements[:elements.numel() // dtype.itemsize * dtype.itemsize]
    misplaced = not elements.is_meta and (elements.data_ptr() % size or elements.storage_offset() % size)
    return (elements.clone() if misplaced else elements).view(dtype)


def elements_in(buffer, byte_order, count, offset, dtype):
    """A copy of the elements in an object with memory, as a tensor."""
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(f"from_buffer: expected byte_order native, little or big, got {byte_order!r}")
    if byte_order is None and dtype.itemsize > 1:
        raise TypeError("from_buffer: expected byte_order of elements of several bytes")
    if len(memoryview(buffer).cast("B")) == offset:
        return _C.empty(0, dtype=dtype)
    copied = bytearray(memoryview(buffer).cast("B"))
    if dtype is _C.bool:  # what is not 0 is true
        return frombuffer(copied, dtype=_C.uint8, count=count, offset=offset) != 0
    elements = frombuffer(copied, dtype=dtype, count=count, offset=offset)
    if byte_order in ("little", "big") and byte_order != sys.byteorder:
        UntypedStorage(elements).byteswap(dtype)
    return elements


UntypedStorage._tensor_over = tensor_over
