"""The memory behind tensors as elements of a dtype: TypedStorage, and the classes named after dtypes (FloatStorage), for programs of
old releases of PyTorch."""
import functools
import operator
import warnings

from . import _C
from ._dtypes import FACTS, STORAGE_TYPES
from ._untyped_storage import UntypedStorage, _check_can_copy, _Storage, elements_in, tensor_over

_QUANTIZED = {"quint8": "QUInt8Storage", "qint8": "QInt8Storage", "qint32": "QInt32Storage", "quint4x2": "QUInt4x2Storage",
              "quint2x4": "QUInt2x4Storage"}
_warns = {"always": False, "warned": False}


def _warn_typed_storage_removal(stacklevel=2):
    """Tells, once, that PyTorch will remove the class."""
    if _warns["always"] or not _warns["warned"]:
        _warns["warned"] = True
        warnings.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
                      "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
                      "tensor.untyped_storage() instead of tensor.storage()", UserWarning, stacklevel=stacklevel + 1)


def _reset_warn_typed_storage_removal():
    _warns["warned"] = False


def _get_always_warn_typed_storage_removal():
    return _warns["always"]


def _set_always_warn_typed_storage_removal(always_warn):
    _warns["always"] = bool(always_warn)


def _dtype_to_storage_type_map():
    """The name of the class of each dtype."""
    quantized = {getattr(_C, name): kind for name, kind in _QUANTIZED.items() if hasattr(_C, name)}
    return {**STORAGE_TYPES, **quantized}


def _storage_type_to_dtype_map():
    """The dtype of each class by its name."""
    return {name: dtype for dtype, name in _dtype_to_storage_type_map().items()}


def _refuse(kind, what):
    raise kind(f"{what}. Expected no argument, a size, a sequence, or wrap_storage=UntypedStorage")


class TypedStorage(_Storage):
    """The memory behind a tensor as elements of its dtype: what tensor.storage() gives, and programs for old releases expect."""

    def __init__(self, *args, device=None, dtype=None, wrap_storage=None, _internal=False):
        if not _internal:
            _warn_typed_storage_removal()
        self._fill_in("TypedStorage.__init__", args, dtype, device, wrap_storage)

    def _fill_in(self, name, args, dtype, device, wrap_storage):
        if wrap_storage is not None:
            if args:
                _refuse(RuntimeError, f"{name}: No positional arguments should be given when using 'wrap_storage'")
            if dtype is None:
                _refuse(RuntimeError, f"{name}: Argument 'dtype' must be specified with 'wrap_storage'")
            if not isinstance(dtype, _C.dtype):
                _refuse(TypeError, f"{name}: Argument 'dtype' must be torch.dtype, not {type(dtype)}")
            if device is not None:
                _refuse(RuntimeError, f"{name}: Argument 'device' should not be specified when 'wrap_storage' is given")
            if not isinstance(wrap_storage, UntypedStorage):
                _refuse(TypeError, f"{name}: Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}")
            self._elements = tensor_over(wrap_storage, dtype)
            return
        dtype = dtype or _C.get_default_dtype()
        device = _C.device("cpu" if device is None else device)
        if device.type not in ("cpu", "cuda", "meta"):
            _refuse(RuntimeError, f"{name}: Storage device not recognized: {device}")
        if len(args) > 1:
            _refuse(RuntimeError, f"{name}: Too many positional arguments")
        source = args[0] if args else 0
        if isinstance(source, str):
            raise TypeError("new(): invalid data type 'str'")
        if isinstance(source, (_C.Tensor, _Storage)):
            _refuse(TypeError, f"{name}: Argument type not recognized: {type(source)}")
        if hasattr(type(source), "__index__"):
            self._elements = _C.empty(operator.index(source), dtype=dtype, device=device)
        elif hasattr(type(source), "__len__"):
            self._elements = _C.tensor(list(source), dtype=dtype, device=device)
        else:
            _refuse(TypeError, f"{name}: Argument type not recognized: {type(source)}")

    @classmethod
    def over(cls, elements):
        """The storage of a tensor of one dimension, which is all of it; none of its elements is looked at."""
        storage = cls.__new__(cls)
        storage._elements = elements
        return storage

    def _like(self, elements):
        return TypedStorage.over(elements)

    def _over(self, storage):
        return TypedStorage.over(tensor_over(storage, self._dtype))

    def _tensor_over(self, dtype):
        if self._dtype is not dtype:
            name = STORAGE_TYPES[dtype].removesuffix("Storage")
            raise RuntimeError(f"Expected a Storage of type {name} or an UntypedStorage, but got type "
                               f"{STORAGE_TYPES[self._dtype].removesuffix('Storage')} for argument 1 'storage'")
        return self._elements

    @property
    def _dtype(self):
        return self._elements.dtype

    @property
    def _untyped_storage(self):
        return UntypedStorage(self._elements)

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    @property
    def dtype(self):
        """The dtype of the elements."""
        _warn_typed_storage_removal()
        return self._dtype

    @property
    def filename(self):
        """Always None: UntypedStorage has the name of the file behind a storage."""
        _warn_typed_storage_removal()

    def untyped(self):
        """The storage of the same memory as bytes."""
        _warn_typed_storage_removal()
        return self._untyped_storage

    def type(self, dtype=None, non_blocking=False):
        """The name of the type ("torch.FloatStorage"); with a type, the elements as such."""
        _warn_typed_storage_removal()
        if dtype is None:
            # harmless(non_blocking): nothing is copied
            return ("torch.cuda." if self._elements.is_cuda else "torch.") + self._pickle_storage_type()
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        device = "cuda" if ".cuda." in name else "cpu"
        return self._like(self._elements.to(device, _storage_type_to_dtype_map()[name.rpartition(".")[2]], non_blocking=non_blocking))

    def pickle_storage_type(self):
        """The name of the class of the dtype."""
        _warn_typed_storage_removal()
        return self._pickle_storage_type()

    def _pickle_storage_type(self):
        return STORAGE_TYPES[self._dtype]

    def _place(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super()._place(index)

    def resize_(self, size):
        """More elements; those that were there stay, the new ones hold anything.  A storage does not become smaller."""
        _warn_typed_storage_removal()
        self._resize_(size)

    def _resize_(self, size):
        _C._grow_storage(self._elements, size * self._elements.itemsize)
        self._elements = tensor_over(self._untyped_storage, self._dtype)

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        """A copy of the elements in an object with memory, in this machine's order of bytes ("native"), "little" or "big"."""
        _warn_typed_storage_removal()
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def _from_buffer(cls, buffer, byte_order=None, count=-1, offset=0, *, dtype=None):
        return TypedStorage.over(elements_in(buffer, byte_order, count, offset, dtype or getattr(cls, "_argand_dtype", None)
                                             or _C.get_default_dtype()))

    def _deepcopy(self, memo):
        return super().__deepcopy__(memo)

    def __deepcopy__(self, memo):
        _warn_typed_storage_removal()
        return self._deepcopy(memo)

    def __eq__(self, other):
        return isinstance(other, TypedStorage) and self._dtype is other._dtype and self._untyped_storage == other._untyped_storage

    def __hash__(self):
        return hash(self._untyped_storage)


def _warned(name):
    """A method of both kinds of storages that warns here; what it does stands under _name, too."""
    function = getattr(_Storage, name)
    if isinstance(function, property):
        @property
        def attribute(self):
            _warn_typed_storage_removal()
            return function.fget(self)
        attribute.__doc__ = function.__doc__
        return attribute

    @functools.wraps(function)
    def method(self, *args, **kwargs):
        _warn_typed_storage_removal()
        return function(self, *args, **kwargs)
    return method


for _name in ("size", "nbytes", "element_size", "data_ptr", "is_shared", "share_memory_"):
    setattr(TypedStorage, "_" + _name, getattr(_Storage, _name))
TypedStorage._getitem, TypedStorage._setitem = _Storage.__getitem__, _Storage.__setitem__
for _name in ("size", "nbytes", "element_size", "data_ptr", "is_shared", "share_memory_", "fill_", "copy_", "resizable", "device", "is_cuda",
              "get_device", "tolist", "clone", "to", "cpu", "cuda", "is_pinned", "pin_memory", "__len__", "__getitem__", "__setitem__",
              "__iter__", "__copy__", "__sizeof__", "__repr__"):
    setattr(TypedStorage, _name, _warned(_name))
TypedStorage.__str__ = TypedStorage.__repr__


def _conversion(name, dtype):
    def convert(self):
        _check_can_copy(self)
        if isinstance(self, TypedStorage):
            _warn_typed_storage_removal()
        return TypedStorage.over(self._elements.to(dtype, copy=True))
    convert.__name__, convert.__qualname__ = name, f"_Storage.{name}"
    convert.__doc__ = f"A copy whose elements are {dtype}."
    setattr(_Storage, name, convert)


for _dtype, _facts in FACTS.items():
    _conversion(_facts.of_storages, _dtype)
del _dtype, _facts


class _LegacyMeta(type):
    """The metaclass of the classes named after dtypes: calling one makes a TypedStorage."""

    @property
    def dtype(cls):
        _warn_typed_storage_removal()
        return cls._argand_dtype

    _dtype = property(lambda cls: cls._argand_dtype)
    is_cuda = property(lambda cls: cls._device == "cuda")

    def __instancecheck__(cls, obj):
        if cls is _LegacyStorage:
            return isinstance(obj, TypedStorage)
        return isinstance(obj, TypedStorage) and obj._dtype is cls._argand_dtype and obj._elements.device.type == cls._device


class _LegacyStorage(metaclass=_LegacyMeta):
    """torch.FloatStorage and the like: a constructor of storages of one dtype, and a type for isinstance."""

    _argand_dtype, _device = None, "cpu"

    def __new__(cls, *args, wrap_storage=None, _internal=False, **kwargs):
        if not _internal:
            _warn_typed_storage_removal()
        if cls is _LegacyStorage:
            raise RuntimeError("Only child classes of _LegacyStorage can be instantiated")
        name = f"{cls}.__new__"
        for key in kwargs:
            if key not in ("device", "dtype"):
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            _refuse(RuntimeError, f"{name}: Keyword argument '{key}' cannot be specified")
        storage = TypedStorage.__new__(TypedStorage)
        storage._fill_in(name, args, cls._argand_dtype, None if wrap_storage is not None else cls._device, wrap_storage)
        if wrap_storage is not None and wrap_storage.device.type != cls._device:
            _refuse(RuntimeError, f"{name}: Device of 'wrap_storage' must be {cls._device}, but got {wrap_storage.device.type}")
        return storage

    @classmethod
    def _only_on_cpu(cls):
        if cls._device == "cuda":
            raise RuntimeError("Not available for CUDA storage")

    @classmethod
    def from_buffer(cls, *args, **kwargs):
        """A copy of the elements in an object with memory, in this machine's order of bytes ("native"), "little" or "big"."""
        _warn_typed_storage_removal()
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def _from_buffer(cls, *args, **kwargs):
        cls._only_on_cpu()
        return TypedStorage._from_buffer(*args, **kwargs, dtype=cls._argand_dtype)

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """The first `size` elements of a file: see UntypedStorage.from_file."""
        _warn_typed_storage_removal()
        cls._only_on_cpu()
        return TypedStorage.over(tensor_over(UntypedStorage.from_file(filename, shared, size * cls._argand_dtype.itemsize), cls._argand_dtype))

    @classmethod
    def _new_with_weak_ptr(cls, *_, **__):
        cls._only_on_cpu()
        raise NotImplementedError(f"{cls.__name__}._new_with_weak_ptr: there are no handles of storages")

    @classmethod
    def _new_shared_filename(cls, *_, **__):
        cls._only_on_cpu()
        raise NotImplementedError(f"{cls.__name__}._new_shared_filename: torch.multiprocessing sends tensors")


def storages(device):
    """The classes of storages by dtype for a kind of device: {"FloatStorage": class, ...}."""
    module = "torch.cuda" if device == "cuda" else "torch"
    return {name: _LegacyMeta(name, (_LegacyStorage,), {"_argand_dtype": dtype, "_device": device, "__module__": module})
            for dtype, name in STORAGE_TYPES.items()}


ON_CPU = storages("cpu")
on_gpus = functools.cache(functools.partial(storages, "cuda"))
