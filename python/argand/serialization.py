"""torch.save and torch.load: PyTorch's file format, a zip archive with a pickle of data alone.

Reading runs no code: the pickle may name tensors, containers and plain values, nothing else.  What it names otherwise is
an UnpicklingError that says so.
"""
import collections
import io
import os
import pickle
import zipfile

from . import _C

DEFAULT_PROTOCOL = 2
_STORAGES = {"FloatStorage": _C.float32, "DoubleStorage": _C.float64, "HalfStorage": _C.float16,
             "BFloat16Storage": _C.bfloat16, "LongStorage": _C.int64, "IntStorage": _C.int32, "ShortStorage": _C.int16,
             "CharStorage": _C.int8, "ByteStorage": _C.uint8, "BoolStorage": _C.bool,
             "ComplexFloatStorage": _C.complex64, "ComplexDoubleStorage": _C.complex128}
_STORAGE_NAMES = {dtype: name for name, dtype in _STORAGES.items()}


class _StorageType:
    """Stands for torch.FloatStorage in a pickle: the name of the type of a storage's elements."""

    def __init__(self, name):
        self.name = name


class _Global:
    """Pickled as the global `module.name`."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class _Storage:
    """All bytes of a storage, as PyTorch's files keep them once for all tensors that share them."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.key = None


class _Pickler(pickle._Pickler):
    """Writes tensors as PyTorch does: a call of torch._utils._rebuild_tensor_v2 with a persistent id for the storage."""

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = {}  # id of a storage: (key, a tensor over all of it)
        self.alive = []

    def persistent_id(self, obj):
        if isinstance(obj, _Storage):
            tensor = obj.tensor
            known = self.storages.setdefault(_C._storage_id(tensor), (str(len(self.storages)), tensor))
            if known[1].dtype is not tensor.dtype:
                raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
            count = _C._storage_nbytes(tensor) // tensor.itemsize
            return ("storage", _Global("torch", _STORAGE_NAMES[tensor.dtype]), known[0], str(tensor.device), count)
        return None

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _Global):
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            return None
        return super().save(obj, save_persistent_id)

    def reducer_override(self, obj):
        from .nn.parameter import Parameter
        if isinstance(obj, Parameter):
            return _Call("torch._utils", "_rebuild_parameter"), (obj.data, obj.requires_grad, collections.OrderedDict())
        if isinstance(obj, _C.Tensor):
            self.alive.append(obj)
            return _Call("torch._utils", "_rebuild_tensor_v2"), (
                _Storage(obj.detach()), obj.storage_offset(), tuple(obj.shape), tuple(obj.stride()), obj.requires_grad,
                collections.OrderedDict())
        if isinstance(obj, _C.Size):
            return _Call("torch", "Size"), (tuple(obj),)
        if isinstance(obj, _C.device):
            return _Call("torch", "device"), (obj.type,) + (() if obj.index is None else (obj.index,))
        return NotImplemented


class _Call(_Global):
    """A global that is called when the pickle is read."""

    def __call__(self, *_):
        raise TypeError("only written, never called")


def _save_dtype(pickler, obj):
    pickler.save(_Global("torch", repr(obj).removeprefix("torch.")))


_Pickler.dispatch = dict(pickle._Pickler.dispatch)
_Pickler.dispatch[_C.dtype] = _save_dtype


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Writes `obj` (tensors, containers, plain values, state dicts) to a path or a binary file, for load() here and in
    PyTorch.  A path gets its new content at once or not at all."""
    if hasattr(f, "write"):
        _write(obj, f, pickle_protocol, "archive")
        return
    path = os.fspath(f)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            _write(obj, file, pickle_protocol, os.path.splitext(os.path.basename(path))[0] or "archive")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _write(obj, file, protocol, name):
    data = io.BytesIO()
    pickler = _Pickler(data, protocol)
    pickler.dump(obj)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{name}/data.pkl", data.getvalue())
        archive.writestr(f"{name}/byteorder", "little")
        for key, tensor in pickler.storages.values():
            archive.writestr(f"{name}/data/{key}", _C._storage_bytes(tensor))
        archive.writestr(f"{name}/version", "3\n")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, storage):
        super().__init__(file, encoding="utf-8")
        self._storage = storage

    def persistent_load(self, pid):
        if not (isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and isinstance(pid[1], _StorageType)):
            raise pickle.UnpicklingError(f"load: expected a storage, got {pid!r}")
        return self._storage(_STORAGES[pid[1].name], str(pid[2]), str(pid[3]), pid[4])

    def find_class(self, module, name):
        if module == "torch" and name in _STORAGES:
            return _StorageType(name)
        if module == "torch" and isinstance(getattr(_C, name, None), _C.dtype):
            return getattr(_C, name)
        found = _ALLOWED.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"load: the file names {module}.{name}; only tensors, containers and plain values "
                                         "are read, never code")
        return found


def _rebuild_tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    return storage.as_strided(tuple(size), tuple(stride), offset).requires_grad_(bool(requires_grad))


def _rebuild_parameter(data, requires_grad, hooks):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _size(values=()):
    return _C.Size(values)


_ALLOWED = {
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor, ("torch._utils", "_rebuild_tensor"): _rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter, ("torch", "Size"): _size, ("torch", "device"): _C.device,
    ("collections", "OrderedDict"): collections.OrderedDict, ("collections", "defaultdict"): collections.defaultdict,
    ("collections", "Counter"): collections.Counter, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
    ("builtins", "list"): list, ("builtins", "dict"): dict, ("builtins", "tuple"): tuple, ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray, ("builtins", "slice"): slice, ("builtins", "int"): int, ("builtins", "float"): float,
    ("__builtin__", "set"): set, ("__builtin__", "list"): list, ("__builtin__", "dict"): dict,
    ("_codecs", "encode"): __import__("codecs").encode,
}


def _placed(map_location):
    """Where the elements of a storage written on `location` go."""
    if map_location is None:
        return lambda location: location
    if callable(map_location):
        # map_location(storage, location) -> a storage; what it does with the storage tells the device.
        def ask(location):
            class Asked:
                device = _C.device("cpu")

                def cuda(self, index=None):
                    return _Placed(_C.device("cuda") if index is None else _C.device("cuda", index))

                def cpu(self):
                    return self
            answer = map_location(Asked(), location)
            return location if answer is None else str(answer.device)
        return ask
    if isinstance(map_location, dict):
        return lambda location: str(map_location.get(location, location))
    device = str(_C.device(map_location))
    return lambda location: device


class _Placed:
    def __init__(self, device):
        self.device = device


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **pickle_load_args):
    """What save() here or torch.save wrote to a path or a binary file.

    Data alone is read, whatever weights_only says.  `map_location`: the device, or a dict or function that tells it.
    """
    if not hasattr(f, "read"):
        with open(f, "rb") as file:
            return load(file, map_location)
    place = _placed(map_location)
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile as error:
        raise pickle.UnpicklingError(f"load: this is no file of torch.save in its zip format: {error}") from None
    with archive:
        names = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if len(names) != 1:
            raise pickle.UnpicklingError("load: expected one data.pkl in the archive, found " + (", ".join(names) or "none"))
        prefix = names[0].removesuffix("data.pkl")
        if prefix + "byteorder" in archive.namelist() and archive.read(prefix + "byteorder").strip() != b"little":
            raise pickle.UnpicklingError("load: files of big-endian machines are not supported")
        loaded = {}

        def storage(dtype, key, location, count):
            if key not in loaded:
                data = archive.read(f"{prefix}data/{key}")
                if len(data) < count * dtype.itemsize:
                    raise pickle.UnpicklingError(f"load: storage {key}: expected {count * dtype.itemsize} bytes, got {len(data)}")
                loaded[key] = _C._from_bytes(data[:count * dtype.itemsize], dtype).to(place(location))
            return loaded[key]
        return _Unpickler(io.BytesIO(archive.read(names[0])), storage).load()
