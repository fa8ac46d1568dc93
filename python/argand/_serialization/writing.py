"""Files of torch.save that contain Python objects, such as whole modules.

They are written if the values are more than data.  Classes have PyTorch's names in them: argand.nn becomes torch.nn.  unpickling.py
reads these files.
"""
import collections
import inspect
import io
import os
import pickle
import pickletools
import struct
import sys
import types
import warnings
import zipfile

from .. import _C
from .._copies import _rebuild_from_type_v2, _rebuild_meta_tensor_no_storage, state_of
from .._dtypes import STORAGE_TYPES
from ..nn.parameter import Parameter, UninitializedTensorMixin
from .state import _serialization_tls
from .._surface.homes import torch_module
from .._surface.naming import own
from ..storage import TypedStorage, UntypedStorage
from . import rebuilding

DTYPES = {name: dtype for dtype, name in STORAGE_TYPES.items()}
_ALIGNMENT = 64


class _Name:
    """A name in torch, to be written as such."""

    def __init__(self, name):
        self.name = name


class _Memory:
    """What a tensor lies in: written as a record of its own, once for all tensors that share it."""

    def __init__(self, tensor):
        self.tensor = tensor


class _Tensors:
    """How a pickler writes tensors, storages and dtypes; `storages`, by identity: (key, UntypedStorage, name of its type)."""

    legacy = False  # the format before PyTorch 1.6: ids of storages have a part more

    def persistent_id(self, obj):
        if isinstance(obj, _Memory):
            storage, kind = obj.tensor.untyped_storage(), STORAGE_TYPES[obj.tensor.dtype]
        elif isinstance(obj, TypedStorage):
            storage, kind = obj._untyped_storage, STORAGE_TYPES[obj._dtype]
        elif isinstance(obj, UntypedStorage):
            storage, kind = obj, "UntypedStorage"
        else:
            return self._of_class(obj) if self.legacy else None
        identity = storage._cdata if storage.nbytes() else (storage._cdata, kind)  # one of no bytes shares nothing
        key, storage, first = self.storages.setdefault(identity, (str(len(self.storages)), storage, kind))
        if kind != first:
            raise _C.ValueError("save: Cannot save multiple tensors or storages that view the same data as different types: "
                               f"a {first} and a {kind} share memory, which the format cannot say")
        size = 1 if kind == "UntypedStorage" else DTYPES[kind].itemsize
        pid = "storage", self.type_named(kind), key, str(storage.device), storage.nbytes() // size
        return (*pid, None) if self.legacy else pid

    def _of_class(self, obj):
        """A module's class, with its source, which load() compares; the class within this, and each one that has none, as any object."""
        from ..nn import Module
        if not (isinstance(obj, type) and issubclass(obj, Module)) or obj in self.classes:
            return None
        self.classes.add(obj)
        try:
            return "module", obj, inspect.getsourcefile(obj), "".join(inspect.getsourcelines(obj)[0])
        except (OSError, TypeError):
            return None

    def reducer_override(self, obj):
        if isinstance(obj, _C.dtype):
            return repr(obj).removeprefix("torch.")
        if not isinstance(obj, _C.Tensor) or isinstance(obj, UninitializedTensorMixin):
            others = getattr(super(), "reducer_override", None)
            return others(obj) if others else NotImplemented
        if _serialization_tls.skip_data and obj.is_meta:
            warnings.warn("Serializing tensors on the meta device under skip_data context manager is a no-op")
        if _serialization_tls.materialize_fake_tensors and _is_fake(obj):
            return self._of_fake(obj)
        if _C._has_no_memory(obj):
            return obj.__reduce_ex__(2)
        hooks, state, cls = collections.OrderedDict(), state_of(obj), type(obj)
        if obj.is_meta:
            made = _rebuild_meta_tensor_no_storage, (obj.dtype, tuple(obj.shape), obj.stride(), obj.requires_grad)
        elif cls is Parameter and not state:
            return rebuilding._rebuild_parameter, (obj.detach(), obj.requires_grad, hooks)
        else:
            plain = obj.detach().as_subclass(_C.Tensor)
            made = rebuilding._rebuild_tensor_v2, (_Memory(plain), plain.storage_offset(), tuple(plain.shape), plain.stride(),
                                               obj.requires_grad, hooks)
        return made if cls is _C.Tensor and not state else (_rebuild_from_type_v2, (made[0], cls, made[1], state))


    @staticmethod
    def _of_fake(obj):
        """A FakeTensor as a tensor over the storage that it claims to have."""
        hooks = collections.OrderedDict()
        made = rebuilding._rebuild_tensor_v2, (_Memory(obj), obj.storage_offset(), tuple(obj.shape), obj.stride(), obj.requires_grad, hooks)
        return (rebuilding._rebuild_parameter, (obj.detach(), obj.requires_grad, hooks)) if isinstance(obj, Parameter) else made


def _is_fake(tensor):
    fakes = sys.modules.get(own("_fake_tensors"))  # without it there is none
    return fakes is not None and isinstance(tensor, fakes.FakeTensor)


class _Pickler(_Tensors, pickle._Pickler):  # the one in Python, whose names can be changed
    type_named = _Name

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages, self.classes = {}, set()

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
            module = _torchs(module, name)
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, _Name: save_global, types.FunctionType: save_global}


def _torchs(module, name):
    """The module of PyTorch that has what `module` has under the name."""
    return torch_module(module, name.partition(".")[0]).removesuffix("._C")


_types = {name: type(name, (), {"__module__": __name__}) for name in DTYPES}
globals().update(_types)  # so that any pickler can name them


def _pickled_by(pickle_module, obj, protocol):
    """The pickle that another module's Pickler makes, and its storages.  It writes names of this package; where the protocol writes
    names as lines (2 and before), they become those of PyTorch."""
    class Pickler(_Tensors, pickle_module.Pickler):
        type_named = staticmethod(lambda kind: _types.get(kind, UntypedStorage))

        def __init__(self, file):
            super().__init__(file, protocol=protocol)
            self.storages = {}
    file = io.BytesIO()
    pickler = Pickler(file)
    pickler.dump(obj)
    text, parts, at = file.getvalue(), [], 0
    for opcode, argument, position in pickletools.genops(text) if protocol <= 2 else ():
        if opcode.name != "GLOBAL" or not argument.startswith("argand"):
            continue
        module, name = argument.split(" ", 1)
        parts += text[at:position], f"c{'torch' if name in DTYPES or name == 'UntypedStorage' else _torchs(module, name)}\n{name}\n".encode()
        at = position + len(argument.encode()) + 2
    return b"".join([*parts, text[at:]]), pickler.storages


def _pickled(obj, pickle_module, protocol, legacy):
    if pickle_module is not None and pickle_module is not pickle:
        if legacy:
            raise NotImplementedError("save: the format before PyTorch 1.6 is written with Python's pickle alone, got "
                                      f"pickle_module={pickle_module!r}")
        return _pickled_by(pickle_module, obj, protocol)
    file = io.BytesIO()
    pickler = _Pickler(file, protocol)
    pickler.legacy = legacy
    pickler.dump(obj)
    return file.getvalue(), pickler.storages


def _add(archive, name, parts, nbytes):
    """A record whose content begins at a multiple of 64."""
    info = zipfile.ZipInfo("archive/" + name)
    gap = -(archive.fp.tell() + 30 + len(info.filename) + 4) % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", gap) + b"Z" * gap
    info.file_size = nbytes
    with archive.open(info, "w") as record:
        for part in parts:
            record.write(part)


_AT_ONCE = 1 << 26  # bytes of a storage that are copied to be written


def _bytes_of(storage):
    """The bytes of a storage, some after the other."""
    if _serialization_tls.skip_data:
        for begin in range(0, storage.nbytes(), _AT_ONCE):
            yield bytes(min(_AT_ONCE, storage.nbytes() - begin))
        return
    elements = storage._elements
    for begin in range(0, len(elements), _AT_ONCE):
        yield _C._to_bytes(elements[begin:begin + _AT_ONCE].cpu())


def _write_file(file, obj, pickle_module, protocol, says_byte_order):
    """To a file that can be sought in, whose position is its beginning."""
    pickled, storages = _pickled(obj, pickle_module, protocol, False)
    with zipfile.ZipFile(file, "w") as archive:
        _add(archive, "data.pkl", [pickled], len(pickled))
        if says_byte_order:
            _add(archive, "byteorder", [b"little"], 6)
        for key, storage, _ in storages.values():
            _add(archive, f"data/{key}", _bytes_of(storage), storage.nbytes())
        _add(archive, "version", [b"3\n"], 2)


def _write_legacy_file(file, obj, pickle_module, protocol):
    """Pickles one after the other: a magic number, the format's, facts about the machine, the values, the storages' keys; then their bytes."""
    pickled, storages = _pickled(obj, pickle_module, protocol, True)
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    stored = list(storages.values())
    for value in (0x1950a86a20f9469cfc6c, 1001, facts):
        file.write(pickle.dumps(value, 2))
    file.write(pickled)
    file.write(pickle.dumps([key for key, _, _ in stored], 2))
    for _, storage, kind in stored:
        size = 1 if kind == "UntypedStorage" else DTYPES[kind].itemsize
        file.write(struct.pack("<q", storage.nbytes() // size))
        for part in _bytes_of(storage):
            file.write(part)


def _at_beginning(f):
    """Whether an archive can be written to a file object as it is: zipfile goes back to note sizes."""
    try:
        return f.seekable() and f.tell() == 0
    except (AttributeError, OSError):
        return False


def save(obj, f, pickle_module=None, protocol=2, legacy=False, says_byte_order=True):
    """Writes it to a path, at once or not at all, or to a binary file."""
    def write(file):
        if legacy:
            _write_legacy_file(file, obj, pickle_module, protocol)
        elif file is not f or _at_beginning(f):
            _write_file(file, obj, pickle_module, protocol, says_byte_order)
        else:
            content = io.BytesIO()
            _write_file(content, obj, pickle_module, protocol, says_byte_order)
            file.write(content.getbuffer())
    if hasattr(f, "write"):
        write(f)
        return
    path = os.fsdecode(f)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
