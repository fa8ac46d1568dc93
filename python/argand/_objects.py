"""Files of torch.save with objects of Python's in them, such as whole modules.

They are written where values are no data alone, and by PyTorch's names: a class of argand.nn is one of torch.nn.  To read such a file is
to run what its pickle names, which may be anything: torch.load never does, only serialization.load_objects(), which says so.
"""
import collections
import io
import os
import pickle
import struct
import types
import zipfile

from . import _C, _utils
from ._tensor import _TYPE_NAMES, _rebuild_from_type_v2
from .nn.parameter import Parameter, UninitializedTensorMixin
from .storage import TypedStorage, UntypedStorage, over

_KINDS = {dtype: name.replace("Tensor", "Storage") for dtype, name in _TYPE_NAMES.items()}
_DTYPES = {name: dtype for dtype, name in _KINDS.items()}
_ALIGNMENT = 64


class _Name:
    """A name in torch, to be written as such."""

    def __init__(self, name):
        self.name = name


class _Memory:
    """What a tensor lies in: written as a record of its own, once for all tensors that share it."""

    def __init__(self, tensor):
        self.tensor = tensor


class _Pickler(pickle._Pickler):  # the one in Python, whose names can be changed
    def __init__(self, file):
        super().__init__(file, 2)
        self.storages = {}  # by identity: (key, UntypedStorage, name of its type)

    def persistent_id(self, obj):
        if isinstance(obj, _Memory):
            storage, kind = obj.tensor.untyped_storage(), _KINDS[obj.tensor.dtype]
        elif isinstance(obj, TypedStorage):
            storage, kind = obj.untyped(), _KINDS[obj.dtype]
        elif isinstance(obj, UntypedStorage):
            storage, kind = obj, "UntypedStorage"
        else:
            return None
        key, storage, first = self.storages.setdefault(storage._cdata, (str(len(self.storages)), storage, kind))
        if kind != first:
            raise ValueError(f"save: a {first} and a {kind} share memory, which the format cannot say")
        size = 1 if kind == "UntypedStorage" else _DTYPES[kind].itemsize
        return "storage", _Name(kind), key, str(storage.device), storage.nbytes() // size

    def reducer_override(self, obj):
        if isinstance(obj, _C.dtype):
            return repr(obj).removeprefix("torch.")
        if not isinstance(obj, _C.Tensor) or isinstance(obj, UninitializedTensorMixin):
            return NotImplemented
        hooks, state, cls = collections.OrderedDict(), dict(obj.__dict__), type(obj)
        if obj.is_meta:
            made = _utils._rebuild_meta_tensor_no_storage, (obj.dtype, tuple(obj.shape), obj.stride(), obj.requires_grad)
        elif cls is Parameter and not state:
            return _utils._rebuild_parameter, (obj.detach(), obj.requires_grad, hooks)
        else:
            plain = obj.detach().as_subclass(_C.Tensor)
            made = _utils._rebuild_tensor_v2, (_Memory(plain), plain.storage_offset(), tuple(plain.shape), plain.stride(),
                                               obj.requires_grad, hooks)
        return made if cls is _C.Tensor and not state else (_rebuild_from_type_v2, (made[0], cls, made[1], state))

    def save_global(self, obj, name=None):
        if isinstance(obj, _Name):
            module, name = "torch", obj.name
        elif isinstance(obj, _C.dtype):
            module = "torch"
        else:
            name = name or getattr(obj, "__qualname__", None) or obj.__name__
            module = pickle.whichmodule(obj, name)
            if module.partition(".")[0] not in ("argand", "torch") or "<locals>" in name:
                return super().save_global(obj, name)
            module = ("torch" + module.removeprefix("argand").removeprefix("torch")).removesuffix("._C")
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, _Name: save_global, types.FunctionType: save_global}


def _add(archive, name, content):
    """A record whose content begins at a multiple of 64."""
    info = zipfile.ZipInfo("archive/" + name)
    gap = -(archive.fp.tell() + 30 + len(info.filename) + 4) % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", gap) + b"Z" * gap
    archive.writestr(info, content)


def _file_of(obj):
    pickled, content = io.BytesIO(), io.BytesIO()
    pickler = _Pickler(pickled)
    pickler.dump(obj)
    with zipfile.ZipFile(content, "w") as archive:
        _add(archive, "data.pkl", pickled.getvalue())
        _add(archive, "byteorder", b"little")
        for key, storage, _ in pickler.storages.values():
            _add(archive, f"data/{key}", _C._to_bytes(storage.cpu()._elements))
        _add(archive, "version", b"3\n")
    return content.getbuffer()


def save(obj, f):
    """Writes it to a path, at once or not at all, or to a binary file."""
    content = _file_of(obj)
    if hasattr(f, "write"):
        f.write(content)
        return
    path = os.fsdecode(f)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


class _Unpickler(pickle.Unpickler):
    def __init__(self, archive, prefix, place):
        super().__init__(archive.open(prefix + "data.pkl"))
        self.archive, self.prefix, self.place, self.storages = archive, prefix, place, {}

    def find_class(self, module, name):
        if module in ("torch", "torch.storage") and (name in _DTYPES or name == "UntypedStorage"):
            return _Name(name)
        if module.partition(".")[0] == "torch":
            module = "argand" + module.removeprefix("torch")
        return super().find_class(module, name)

    def persistent_load(self, pid):
        kind, key, location = pid[1].name, pid[2], pid[3]
        if key not in self.storages:
            memory = over(bytearray(self.archive.read(f"{self.prefix}data/{key}")))
            storage = UntypedStorage(memory.to(self.place(location) if self.place else location))
            self.storages[key] = storage if kind == "UntypedStorage" else TypedStorage(wrap_storage=storage, dtype=_DTYPES[kind])
        return self.storages[key]


def load(source, place):
    """What save() wrote to a path or bytes; storages go where place(where they were) says, if there is one."""
    with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
        pickled = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        prefix = pickled.removesuffix("data.pkl")
        if f"{prefix}byteorder" in archive.namelist() and archive.read(f"{prefix}byteorder") != b"little":
            raise pickle.UnpicklingError("load: objects in a file of another byte order cannot be read")
        return _Unpickler(archive, prefix, place).load()
