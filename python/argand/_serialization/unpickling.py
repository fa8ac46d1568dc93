"""Files of torch.save read by an unpickler of Python's: objects of any class, or of those that the program has named.

The archive itself is read by C++ (argand/io/torch_archive.h), whichever unpickler reads its pickle.
"""
import collections
import inspect
import io
import os
import pickle
import pickletools
import struct
import sys
import warnings
import zipfile
from importlib.util import find_spec

from .. import _C
from .._dispatch import StateOff
from .writing import DTYPES
from .state import SourceChangeWarning, _get_layout, safe
from .._surface.homes import torch_module
from .._surface.naming import PACKAGE, full, is_private, own
from ..storage import TypedStorage, UntypedStorage

_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # what the format before PyTorch 1.6 begins with
_PROTOCOL = 1001
# Where pickles say that types of storages are; the last two are former names of argand._serialization.writing.
_OF_STORAGES = ("torch", "torch.storage", "torch.cuda", "argand.storage", "argand._serialization.writing", "argand._objects", "argand._pickled_files")
BLOCKED = ("sys", "os", "posix", "nt")  # modules of which no name is ever allowed


def _storage_type(module, name):
    """The type of a storage that a pickle names, as its dtype; UntypedStorage has none."""
    if module in _OF_STORAGES and (name in DTYPES or name == "UntypedStorage"):
        return StorageType(DTYPES.get(name))
    return None


class StorageType:
    """The type of a storage in a pickle."""

    def __init__(self, dtype):
        self.dtype = dtype

    def over(self, tensor):
        """A storage of this type over a tensor of one dimension."""
        if self.dtype is None:
            storage = UntypedStorage(tensor)
            storage._bytes = tensor
            return storage
        return TypedStorage.over(tensor)


def ours(module):
    """The module of this package that a file names, by PyTorch's name or by ours."""
    first, _, rest = module.partition(".")
    if first == "torch":
        return full(rest)
    is_moved = first == PACKAGE and is_private(rest) and find_spec(own(rest.partition(".")[0])) is None
    return full(rest) if is_moved else module  # PyTorch's private modules once stood beside ours


def torchs(module, name):
    """The full name in PyTorch of what `module` has under the name."""
    return f"{torch_module(module, name.partition('.')[0])}.{name}"


def named_globals():
    """The classes and functions that add_safe_globals() allowed, by their names in files, which are PyTorch's."""
    found = {}
    for given in safe:
        if isinstance(given, tuple):
            if len(given) != 2 or not isinstance(given[1], str):
                raise ValueError(f"Expected tuple of (global, str of callable full path), but got tuple: {given}")
            found[given[1]] = given[0]
        else:
            found[torchs(given.__module__, given.__qualname__)] = given
    return found


def any_object(pickle_module=pickle, **arguments):
    """An unpickler that imports and calls what a file names; `pickle_module` has the class that it is made of."""
    class Unpickler(pickle_module.Unpickler):
        def __init__(self, file, persistent_load):
            super().__init__(file, **{"encoding": "utf-8", **arguments})
            if persistent_load is not None:
                self.persistent_load = persistent_load

        def find_class(self, module, name):
            found = _storage_type(module, name)
            return super().find_class(ours(module), name) if found is None else found
    return Unpickler


# ---- archives


def load_archive(archive, unpickler):
    """The value in a C++ archive."""
    known = {}

    def persistent_load(pid):
        _, kind, key, location, numel = pid[:5]
        if key not in known:
            with StateOff():  # modes are shown the tensors that are made of it
                known[key] = kind.over(archive.storage(key, kind.dtype, numel, location))
        return known[key]
    return unpickler(io.BytesIO(archive.pickle()), persistent_load).load()


class SharedArchive:
    """An archive of torch.save whose storages are memory of the file: what is written to one is written to the file."""

    def __init__(self, path, place):
        self._archive, self._path, self._place = _C._TorchArchive(path, None, True, False), path, place
        self._records = {}
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if info.compress_type == zipfile.ZIP_STORED:
                    file.seek(info.header_offset + 26)
                    names = sum(struct.unpack("<HH", file.read(4)))
                    self._records[info.filename.partition("/")[2]] = info.header_offset + 30 + names, info.file_size
                if info.filename.endswith("/byteorder") and archive.read(info) != sys.byteorder.encode():
                    raise NotImplementedError(f"load: {path}: elements in another machine's order of bytes cannot be shared with the file")
        self.pickle = self._archive.pickle

    def storage(self, key, dtype, numel, location):
        """The elements of a storage; bytes without a dtype."""
        dtype = dtype or _C.uint8
        first, size = self._records.get(f"data/{key}", (0, -1))
        if not 0 <= numel * dtype.itemsize <= size:
            raise pickle.UnpicklingError(f"load: storage {key!r:.50} has {numel} elements of {dtype}; its record in the file has {size} bytes")
        if first % dtype.itemsize:
            raise pickle.UnpicklingError(f"load: storage {key!r:.50} is not where {dtype} can be read")
        if not numel:
            elements = _C.empty(0, dtype=dtype)
        else:
            descriptor = os.open(self._path, os.O_RDWR)
            elements = _C._map_file(descriptor, os.fsencode(self._path), numel * dtype.itemsize, True, first).view(dtype)
        return elements.to(self._place(location) if self._place else location)


# ---- the format before 1.6


def is_legacy(content):
    """Whether the bytes begin as a file of that format does."""
    return content.startswith(_MAGIC)


_AT_ONCE = 1 << 22  # elements that are read, so that a file of many needs no memory beside theirs


class _Legacy:
    """Pickles one after the other, then the elements of the storages that they name."""

    def __init__(self, file, unpickler, place):
        self.file, self.unpickler, self.place = file, unpickler, place
        start = file.tell()
        self.left = file.seek(0, 2) - start if not isinstance(file, io.BytesIO) else len(file.getbuffer()) - start
        file.seek(start)
        self.storages = {}  # (storage, its elements in memory of the CPU, its location)

    def load(self):
        self._read(len(_MAGIC))
        if self._next(None) != _PROTOCOL:
            raise pickle.UnpicklingError(f"load: expected protocol {_PROTOCOL} of the format before PyTorch 1.6")
        self._next(None)  # facts about the machine
        value = self._next(self._persistent)
        for key in self._next(None):
            self._fill(key.decode("ascii", "replace") if isinstance(key, bytes) else key)
        return value

    def _next(self, persistent_load):
        return self.unpickler(self.file, persistent_load).load()

    def _persistent(self, pid):
        if pid[0] == "module":
            _compare_source(*pid[1:4])
            return pid[1]
        _, kind, key, location, numel, *view = pid
        if isinstance(location, bytes):  # written by Python 2
            key, location = key.decode("ascii"), location.decode("ascii")
        if key not in self.storages:
            nbytes = numel * (kind.dtype or _C.uint8).itemsize
            if not 0 <= nbytes <= self.left:
                raise pickle.UnpicklingError(f"load: storage {key!r:.50} has {numel} elements; the file has {self.left} bytes left")
            self.left -= nbytes
            location = self.place(location) if self.place else location
            with StateOff():
                elements = _C.empty(numel, dtype=kind.dtype or _C.uint8, device=location)
                self.storages[key] = kind.over(elements), elements, kind
        storage, elements, kind = self.storages[key]
        if view and view[0] is not None:
            _, offset, size = view[0]
            with StateOff():
                return kind.over(elements[offset:offset + size])
        return storage

    def _fill(self, key):
        with StateOff():
            self._fill_elements(key)

    def _fill_elements(self, key):
        _, elements, kind = self.storages[key]
        numel = struct.unpack("<q", self._read(8))[0]
        if numel != elements.numel():
            raise pickle.UnpicklingError(f"load: expected {elements.numel()} elements of storage {key!r:.50}, got {numel}")
        for begin in range(0, numel, _AT_ONCE):
            part = elements[begin:begin + _AT_ONCE]
            content = self._read(part.nbytes)
            if not elements.is_meta:
                part.copy_(_C._from_bytes(content, kind.dtype or _C.uint8))

    def _read(self, count):
        content = _read(self.file, count)
        if len(content) != count:
            raise pickle.UnpicklingError("load: the file is cut: a storage lacks elements")
        return content


def _read(file, count):
    """At most `count` bytes of a file object, by its readinto(), if it has one."""
    if not hasattr(file, "readinto"):
        return file.read(count)
    content, filled = bytearray(count), 0
    with memoryview(content) as left:
        while filled < count and (read := file.readinto(left[filled:])):
            filled += read
    return bytes(content[:filled])


def _compare_source(cls, file=None, source=None):
    """Warns where the class of a module is not what it was when the file was saved."""
    try:
        here = "".join(inspect.getsourcelines(cls)[0])
    except (OSError, TypeError):
        return
    if isinstance(source, str) and source and source != here:
        warnings.warn(f"source code of class '{cls.__module__}.{cls.__qualname__}' has changed since the file was saved (it was in "
                      f"{file!r:.200}): what is loaded has the new methods", SourceChangeWarning, stacklevel=2)


def load_legacy(file, unpickler, place):
    """The next value in a file of that format, which is read up to its end alone; storages go where place(where they were) says, if there
    is one."""
    return _Legacy(file, unpickler, place).load()


def globals_in(archive):
    """What the pickle of an archive names, as "module.name", without storages' types."""
    found = {}
    for opcode, argument, _ in pickletools.genops(archive.pickle()):
        if opcode.name == "GLOBAL":
            module, name = argument.split(" ", 1)
            if _storage_type(module, name) is None:
                found[f"{module}.{name}"] = None
    return list(found)


# ---- with classes and functions that the program has named

_OrderedDict = collections.OrderedDict


def _call_of(name, *checks):
    def check(function):
        def call(*arguments):
            if len(arguments) > len(checks) or not all(isinstance(a, c) for a, c in zip(arguments, checks)):
                raise pickle.UnpicklingError(f"load: a call of {name} with {[type(a).__name__ for a in arguments]}")
            return function(*arguments)
        return call
    return check


def _known():
    """{name in a pickle: (what it is here, what a call of it does or None)}: those that the reader of data knows, too."""
    import builtins

    from .. import _copies
    from . import rebuilding
    number = (int, float)
    sequence = (list, tuple)
    calls = {
        "builtins.set": (set, _call_of("set", sequence)(set)),
        "builtins.frozenset": (frozenset, _call_of("frozenset", sequence)(frozenset)),
        "builtins.complex": (complex, _call_of("complex", number, number)(complex)),
        "builtins.slice": (slice, _call_of("slice", object, object, object)(slice)),
        "builtins.range": (range, _call_of("range", int, int, int)(range)),
        "builtins.bytearray": (bytearray, _call_of("bytearray", bytes)(bytearray)),
        "builtins.bytes": (bytes, _call_of("bytes", bytes)(bytes)),
        "_codecs.encode": (_encode, _call_of("_codecs.encode", str, str)(_encode)),
        "collections.OrderedDict": (_OrderedDict, _call_of("OrderedDict", sequence)(_OrderedDict)),
        "collections.Counter": (collections.Counter, _call_of("Counter", dict)(collections.Counter)),
        "collections.defaultdict": (collections.defaultdict, _call_of("defaultdict", (type, type(None)))(collections.defaultdict)),
        "torch.Size": (_C.Size, _call_of("torch.Size", sequence)(_C.Size)),
        "torch.device": (_C.device, _call_of("torch.device", (str,), int)(_C.device)),
        "torch.Tensor": (_C.Tensor, None),
        "torch.nn.parameter.Parameter": (rebuilding.Parameter, None),
        "torch.serialization._get_layout": (_get_layout, _get_layout),
        "torch._tensor._rebuild_from_type_v2": (_copies._rebuild_from_type_v2, None),  # of a known function alone: see reduce
    }
    for name in ("int", "float", "bool", "str", "list", "dict", "tuple"):  # what a defaultdict makes
        calls["builtins." + name] = getattr(builtins, name), None
    for function in (rebuilding._rebuild_tensor, rebuilding._rebuild_tensor_v2, rebuilding._rebuild_tensor_v3, rebuilding._rebuild_parameter,
                     rebuilding._rebuild_parameter_with_state, _copies._rebuild_meta_tensor_no_storage, _copies._rebuild_wrapper_subclass):
        calls["torch._utils." + function.__name__] = function, function
    for dtype in DTYPES.values():
        calls[repr(dtype)] = dtype, None
    return calls


def _encode(text, encoding):
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"load: a text in {encoding!r:.20}")
    return text.encode(encoding)


_PYTHON_2 = {"__builtin__": "builtins"}
_MOST_OF_ONE_HASH = 128


class NamedObjects(pickle._Unpickler):
    """The unpickler of Python's text, with the opcodes of protocol 2 that torch.save writes, for data and what a program has named.

    Only what is allowed is called, made or given a state: no attribute of any other object is set.
    """

    dispatch = {opcode[0]: pickle._Unpickler.dispatch[opcode[0]] for opcode in (
        pickle.PROTO, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1,
        pickle.BINFLOAT, pickle.BINUNICODE, pickle.BINSTRING, pickle.SHORT_BINSTRING, pickle.EMPTY_LIST, pickle.EMPTY_DICT, pickle.EMPTY_TUPLE,
        pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.MARK, pickle.APPEND, pickle.APPENDS, pickle.SETITEM,
        pickle.SETITEMS, pickle.BINPUT, pickle.LONG_BINPUT, pickle.BINGET, pickle.LONG_BINGET, pickle.GLOBAL, pickle.BINPERSID,
        pickle.STOP)}

    def __init__(self, file, persistent_load, named, encoding="utf-8"):
        super().__init__(file, encoding=encoding)
        self.named, self.known, self.storage_of = named, _known(), persistent_load
        self.callable = {id(value): call for value, call in self.known.values() if call is not None}
        self.callable.update((id(value), value) for value in named.values())
        self.classes = {value for value in named.values() if isinstance(value, type)}
        self.hashes = {}

    def load(self):
        try:
            return super().load()
        except (_C.DeviceError, OSError):
            raise
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, EOFError, OverflowError, RuntimeError, struct.error) as error:
            raise pickle.UnpicklingError(f"load: the file is no valid checkpoint: {type(error).__name__}: {error}") from error

    def persistent_load(self, pid):
        if isinstance(pid, tuple):  # texts of Python 2 may be bytes
            pid = tuple(part.decode("ascii", "replace") if isinstance(part, bytes) else part for part in pid)
        if isinstance(pid, tuple) and len(pid) == 4 and pid[0] == "module" and isinstance(pid[1], type):
            _compare_source(*pid[1:])  # the class has a name that find_class() has let pass
            return pid[1]
        if self.storage_of is None or not (isinstance(pid, tuple) and 5 <= len(pid) <= 6 and pid[0] == "storage"
                                           and isinstance(pid[1], StorageType) and isinstance(pid[4], int)):
            raise pickle.UnpicklingError("load: a persistent id that is no storage")
        return self.storage_of(pid)

    def find_class(self, module, name):
        found = _storage_type(module, name)
        if found is not None:
            return found
        if (theirs := torchs(module, name)) in self.named and module not in BLOCKED:
            return self.named[theirs]
        whole = f"{_PYTHON_2.get(module, module)}.{name}"
        if whole not in self.known:
            raise pickle.UnpicklingError(refusal(whole))
        return self.known[whole][0]

    def load_reduce(self):
        arguments, function = self.stack.pop(), self.stack.pop()
        if type(arguments) is not tuple:
            raise pickle.UnpicklingError(f"load: arguments that are a {type(arguments).__name__}")
        if function is self.known["torch._tensor._rebuild_from_type_v2"][0]:
            made_by, cls, *rest = arguments
            if id(made_by) not in self.callable or not self._may_be_made(cls):
                raise pickle.UnpicklingError(f"load: a tensor made by {made_by!r:.60}")
            self.stack.append(function(self.callable[id(made_by)], cls, *rest))
            return
        call = self.callable.get(id(function))
        if call is None:
            raise pickle.UnpicklingError(f"load: a call of {function!r:.80}")
        self.stack.append(call(*arguments))
    dispatch[pickle.REDUCE[0]] = load_reduce

    def _may_be_made(self, cls):
        return isinstance(cls, type) and (cls in self.classes or cls in (_C.Tensor, self.known["torch.nn.parameter.Parameter"][0]))

    def load_newobj(self):
        arguments, cls = self.stack.pop(), self.stack.pop()
        if not isinstance(cls, type) or cls not in self.classes and cls not in (_OrderedDict, collections.Counter):
            raise pickle.UnpicklingError(f"load: an object of {cls!r:.80}")
        self.stack.append(cls.__new__(cls, *arguments))
    dispatch[pickle.NEWOBJ[0]] = load_newobj

    def load_build(self):
        state, target = self.stack.pop(), self.stack[-1]
        cls = type(target)
        if cls not in self.classes and cls not in (_OrderedDict, collections.Counter):
            raise pickle.UnpicklingError(f"load: a state is given to a {cls.__name__}")
        if hasattr(cls, "__setstate__"):  # the class's: an attribute that the file has set is none
            cls.__setstate__(target, state)
            return
        state, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        if state:
            target.__dict__.update(state)
        for name, value in (slots or {}).items():
            setattr(target, name, value)
    dispatch[pickle.BUILD[0]] = load_build

    def _check_keys(self, target, keys):
        if type(target) not in (dict, _OrderedDict, collections.Counter, collections.defaultdict) and type(target) not in self.classes:
            raise pickle.UnpicklingError(f"load: a key is set in a {type(target).__name__}")
        for key in keys:
            if type(key) not in (str, bytes):  # of all others the hash is known to everybody
                _, counts = self.hashes.setdefault(id(target), (target, collections.Counter()))
                counts[hash(key)] += 1
                if counts[hash(key)] > _MOST_OF_ONE_HASH:
                    raise pickle.UnpicklingError(f"load: more than {_MOST_OF_ONE_HASH} keys of one dict have the hash {hash(key)}")

    def load_setitem(self):
        self._check_keys(self.stack[-3], self.stack[-2:-1])
        super().load_setitem()
    dispatch[pickle.SETITEM[0]] = load_setitem

    def load_setitems(self):
        self._check_keys(self.metastack[-1][-1], self.stack[::2])
        super().load_setitems()
    dispatch[pickle.SETITEMS[0]] = load_setitems

    def _check_list(self, target):
        if type(target) is not list and type(target) not in self.classes:
            raise pickle.UnpicklingError(f"load: elements are appended to a {type(target).__name__}")

    def load_append(self):
        self._check_list(self.stack[-2])
        super().load_append()
    dispatch[pickle.APPEND[0]] = load_append

    def load_appends(self):
        self._check_list(self.metastack[-1][-1])
        super().load_appends()
    dispatch[pickle.APPENDS[0]] = load_appends


def is_known(name):
    """Whether load() reads this name of a pickle without being told."""
    module, _, last = name.rpartition(".")
    return f"{_PYTHON_2.get(module, module)}.{last}" in _known()


def refusal(name):
    """The error message for a name that is not allowed; it has PyTorch's sentence, which programs look for."""
    if name.partition(".")[0] in BLOCKED:
        return (f"Weights only load failed.  The global {name} is refused, whoever names it: Trying to load unsupported GLOBAL {name} whose "
                f"module {name.partition('.')[0]} is blocked.")
    last = name.rpartition(".")[2]
    return (f"Weights only load failed.  The global {name.removeprefix('builtins.')} is refused: only tensors, arrays, containers and plain "
            f"values are read, never code, and what the program has named.  Unsupported global: GLOBAL {name} was not an allowed global by "
            f"default. Please use `torch.serialization.add_safe_globals([{last}])` or the "
            f"`torch.serialization.safe_globals([{last}])` context manager to "
            "allowlist this global if you trust this class/function.  Whoever trusts the file may also pass weights_only=False, which runs "
            "what the file names")


def named_objects(named, encoding="utf-8"):
    """An unpickler for data and these, by their names in PyTorch; `encoding`: of texts that Python 2 wrote, or "bytes"."""
    return lambda file, persistent_load: NamedObjects(file, persistent_load, named, encoding)
