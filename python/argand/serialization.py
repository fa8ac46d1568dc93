"""torch.save and torch.load: PyTorch's file format, a zip archive with a pickle of data alone.

Reading and writing are C++ (argand/io/torch_file.h) and run no code of a file: the pickle may name tensors, arrays of
NumPy, containers and plain values.  What it names otherwise is an UnpicklingError that says so, unless the program has named it
(add_safe_globals) or trusts the file (weights_only=False): then an unpickler of Python's reads it (_serialization/unpickling.py).
"""
import errno
import io
import os
import pickle
import re

from . import _C, _surface
from ._ignored import harmless
from ._serialization.state import _get_layout, _serialization_tls, mapping  # noqa: F401 -- files name _get_layout here
from .storage import TypedStorage, _storage_type_to_dtype_map

DEFAULT_PROTOCOL = 2
_TELLS = "it tells where a storage goes, and moves nothing"


def save(obj, f, pickle_module=None, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Writes `obj` to a path or a binary file, for load() here and in PyTorch.  A path gets its new content at once or not at all.

    Tensors, arrays of NumPy, containers, plain values and state dicts are data, which load() reads from any file.  Other objects, as
    whole modules, are pickled by Python, as is everything if another protocol than 2 or another module than pickle is named: for
    load(weights_only=False).
    """
    if pickle_protocol < 1:
        raise ValueError(f"save: expected a pickle_protocol of 1 or more, in which storages can be named, got {pickle_protocol}")
    is_file = not isinstance(f, (str, bytes, os.PathLike))
    if is_file and not hasattr(f, "write"):
        raise AttributeError(f"save: expected 'f' to be string, path, or a file-like object with a 'write' attribute, got {type(f).__name__}")
    if _serialization_tls.skip_data and not _use_new_zipfile_serialization:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    plain = (not _serialization_tls.skip_data and pickle_module in (None, pickle) and pickle_protocol == DEFAULT_PROTOCOL
             and _use_new_zipfile_serialization and not _disable_byteorder_record)
    error = None
    if plain:
        try:
            if is_file:
                _C._save_to_file(obj, f.write)
                return _flush(f)
            return _C._save_to_path(obj, os.fsdecode(f))
        except ValueError as no_data:  # which is seen before anything is written
            error = no_data
    from ._serialization.writing import save as save_objects
    try:
        save_objects(obj, f, pickle_module, pickle_protocol, legacy=not _use_new_zipfile_serialization,
                     says_byte_order=not _disable_byteorder_record)
        if is_file:
            _flush(f)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as second:
        if error is None:
            raise
        kind = type(second) if isinstance(second, (pickle.PicklingError, AttributeError)) else type(error)
        raise kind(str(error)) from second


def _flush(f):
    """What was written to a file object is there for whoever opens the file next."""
    if hasattr(f, "flush"):
        f.flush()


class _Storage:
    """A storage as a function of map_location sees it: what is done with it tells where it goes."""

    def __init__(self, device="cpu"):
        self.device = _C.device(device)

    def cpu(self):
        """To the memory of the CPU."""
        return _Storage()

    @harmless(non_blocking=_TELLS)
    def cuda(self, device=None, non_blocking=False):
        """To a GPU, the current one if not said."""
        if device is None or isinstance(device, int):
            device = _C.device("cuda" if device is None else f"cuda:{device}")
        return _Storage(device)

    @harmless(non_blocking=_TELLS)
    def to(self, *, device, non_blocking=False):
        """To a device."""
        return _Storage(device)


def _placed(map_location):
    """A function from where a storage was to where it goes; None if it stays where it was."""
    if map_location is None:
        return None
    if callable(map_location) and not isinstance(map_location, _C.device):  # which decorates functions
        def ask(location):
            answer = map_location(_Storage(), location)
            return location if answer is None else str(answer.device)
        return ask
    if isinstance(map_location, dict):
        return lambda location: str(map_location.get(location, location))
    device = str(_C.device(map_location))
    return lambda location: device


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, verify=None, **pickle_load_args):
    """What save() here or torch.save wrote to a path or a binary file; a safetensors file, or the path of
    an index of several (model.safetensors.index.json), is a dict of its tensors.

    Data alone is read, with the classes and functions that add_safe_globals() has named; weights_only=False reads any objects and runs
    what the file names, by the Unpickler of `pickle_module`: for files that you trust.
    `map_location`: the device, or a dict or function that tells it.  `mmap`: a storage is read when one of its elements is first looked
    at; for a path alone.  `verify`: whether checksums are compared; if not said, when the elements are read.
    """
    if _serialization_tls.skip_data:
        raise RuntimeError("`torch.load` called within a torch.serialization.skip_data context manager is not supported yet. Please call "
                           "torch.load outside the skip_data context manager.")
    unknown = pickle_load_args.keys() - {"encoding", "errors", "fix_imports", "buffers"}
    if unknown and pickle_module in (None, pickle):  # another module's Unpickler may know more
        raise TypeError(f"load() got an unexpected keyword argument '{min(unknown)}'")
    try:
        return _load(f, map_location, pickle_module, weights_only, mmap, verify, pickle_load_args)
    except _C.DeviceError as error:
        raise _elsewhere(error) from None
    except (_C.IoError, pickle.UnpicklingError) as error:
        if "pickle protocol" in str(error):
            error = type(error)(f"{error}.  Files that weights_only=True reads are written with protocol 2.  If that should not do, file an "
                                "issue with the following so that we can make `weights_only=True` read it: what wrote the file, and how.")
        raise _python_error(f, error) from None


def _load(f, map_location, pickle_module, weights_only, mmap, verify, pickle_load_args):
    if weights_only is None:
        weights_only = pickle_module is None
    if os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true"):
        weights_only = True
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if hasattr(f, "read"):
        if mmap:
            raise ValueError("load: f must be a string filename in order to use mmap argument")
        source = _source_in(f)
    else:
        source = os.fsdecode(f)
    if isinstance(source, memoryview):
        try:
            return _load_from(source, f, map_location, pickle_module, weights_only, mmap, verify, pickle_load_args)
        finally:
            try:
                source.release()  # the file object may be written again
            except BufferError:  # an error's traceback refers to what reads it
                pass
    return _load_from(source, f, map_location, pickle_module, weights_only, mmap, verify, pickle_load_args)


def _load_from(source, f, map_location, pickle_module, weights_only, mmap, verify, pickle_load_args):
    if source is None:  # the format before PyTorch 1.6, which is read as it comes
        from ._serialization.unpickling import any_object, load_legacy, named_globals, named_objects
        unpickler = (named_objects(named_globals(), pickle_load_args.get("encoding", "utf-8")) if weights_only else any_object(pickle_module or pickle, **pickle_load_args))
        return load_legacy(f, unpickler, _placed(map_location))
    arguments = source, _placed(map_location), bool(mmap), None if verify is None else bool(verify)
    if mmap and mapping["shared"]:
        from ._serialization.unpickling import any_object, named_globals, named_objects
        unpickler = named_objects(named_globals()) if weights_only else any_object(pickle_module or pickle, **pickle_load_args)
        return _load_shared(unpickler, *arguments[:2])
    if not weights_only:
        from ._serialization.unpickling import any_object
        return _load_by(any_object(pickle_module or pickle, **pickle_load_args), arguments)
    try:
        return _data(arguments)
    except pickle.UnpicklingError as error:
        refused = re.search(r"the global (.+) is refused: only tensors", str(error))
        if refused is None:
            raise
        from ._serialization.unpickling import named_globals, named_objects, refusal
        named = named_globals()
        if refused[1] not in named and refused[1] != "torch._utils._rebuild_wrapper_subclass":  # of a class that is named
            raise pickle.UnpicklingError(f"{refusal(refused[1])}: {error}") from None
    return _load_by(named_objects(named), arguments)


def _load_shared(unpickler, path, place):
    from ._serialization.unpickling import SharedArchive, load_archive
    with open(path, "rb") as file:
        if not _is_zipfile(file):
            raise RuntimeError("mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`")
    return load_archive(SharedArchive(path, place), unpickler)


def _python_error(f, error):
    """Python's error for what it has one: a folder, and a file or file object without a byte."""
    if isinstance(f, (str, bytes, os.PathLike)):
        if os.path.isdir(f):
            return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(f))
        if isinstance(error, pickle.UnpicklingError) and os.path.getsize(f) == 0:
            return EOFError(f"load: {os.fspath(f)!r} is empty")
    elif isinstance(error, pickle.UnpicklingError) and f.tell() == 0 and not f.read(1):
        return EOFError("load: the file is empty")
    return error


def _elsewhere(error):
    """What to do about storages of a device that is not there."""
    if _C.cuda.is_available():
        return error
    return type(error)("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
                       "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU. "
                       f"({error})")


def _source_in(f):
    """The bytes in a file object, or the path of its file, which has no copy in memory; None for a file before PyTorch 1.6."""
    from ._serialization.unpickling import is_legacy
    try:
        start = f.tell()
        f.seek(start)
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like "
                          "io.BytesIO and try to load from it instead.") from None
    beginning = f.read(16)
    if not isinstance(beginning, bytes):
        raise pickle.UnpicklingError(f"load: expected a binary file, got one that reads {type(beginning).__name__}")
    f.seek(start)
    if is_legacy(beginning):
        return None
    if start == 0 and isinstance(getattr(f, "name", None), (str, bytes)) and isinstance(getattr(f, "file", f), io.BufferedIOBase):
        try:
            file, path = os.fstat(f.fileno()), os.stat(f.name)
        except (OSError, AttributeError, io.UnsupportedOperation):
            file = path = None
        if path and (file.st_dev, file.st_ino, f.seek(0, 2)) == (path.st_dev, path.st_ino, path.st_size):
            return os.fsdecode(f.name)
        f.seek(start)
    return _rest_of(f)


def _rest_of(f):
    """The bytes of a file object from its position on, without a copy where it is memory, and read into one piece of memory else."""
    start = f.tell()
    if isinstance(f, io.BytesIO):
        f.seek(0, 2)
        return f.getbuffer()[start:]
    if not hasattr(f, "readinto"):
        return f.read()
    size = f.seek(0, 2) - start
    f.seek(start)
    content, count = bytearray(size), 0
    with memoryview(content) as left:
        while count < size and (read := f.readinto(left[count:])):
            count += read
    del content[count:]
    return content


def _data(arguments):
    """What the reader of data alone gives, as modes want its tensors."""
    from ._dispatch import StateOff
    with StateOff():
        made = _C._load(*arguments)
    return _shown(made, {}) if _C._dispatch_modes() else made


def _shown(value, known):
    """A value with its tensors as modes want them; `known` has what was seen, by identity."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, _C.Tensor):
        found = _C._shown(value)
    elif isinstance(value, dict):
        for key, item in value.items():  # in place, which keeps what else a state_dict has
            value[key] = _shown(item, known)
        found = value
    elif isinstance(value, list):
        value[:] = [_shown(item, known) for item in value]
        found = value
    elif type(value) is tuple:
        found = tuple(_shown(item, known) for item in value)
    else:
        return value
    known[id(value)] = found
    return found


def _load_by(unpickler, arguments):
    """Reads PyTorch's two formats by an unpickler of Python's; all others hold data alone."""
    from ._serialization.unpickling import is_legacy, load_archive, load_legacy
    source, place, _, _ = arguments
    archive = _C._TorchArchive(*arguments)
    if archive.is_archive():
        return load_archive(archive, unpickler)
    if not isinstance(source, str):
        return load_legacy(io.BytesIO(source), unpickler, place) if is_legacy(bytes(source[:16])) else _data(arguments)
    with open(source, "rb") as file:
        legacy = is_legacy(file.read(16))
        file.seek(0)
        return load_legacy(file, unpickler, place) if legacy else _data(arguments)


def load_objects(f, map_location=None):
    """load(f, map_location, weights_only=False) (Argand's own): any objects, for files that you trust."""
    return load(f, map_location, weights_only=False)


def _load_from_bytes(data):
    """The storage that stands in a plain pickle of a tensor of PyTorch's, as a file of its older format."""
    kind = re.search(rb"ctorch\n(\w+Storage)\n", data)
    if kind is None:
        raise ValueError("_load_from_bytes(): expected a storage that PyTorch has pickled")
    found = load(io.BytesIO(data))
    return found if isinstance(found, TypedStorage) else TypedStorage(wrap_storage=found, dtype=_storage_type_to_dtype_map()[kind[1].decode()], _internal=True)


def _is_zipfile(f):
    """Whether a file begins as an archive does; zipfile.is_zipfile looks at its end."""
    start = f.tell()
    found = f.read(4) == b"PK\x03\x04"
    f.seek(start)
    return found


def default_restore_location(storage, location):
    """The storage where files say that it was: "cpu", "cuda:0"."""
    return storage.to(device=_C.device(location))


__getattr__, __dir__ = _surface.of(__name__)
