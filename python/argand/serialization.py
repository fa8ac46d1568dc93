"""torch.save and torch.load: PyTorch's file format, a zip archive with a pickle of data alone.

Reading and writing are C++ (argand/io/torch_file.h) and run no code of a file: the pickle may name tensors, arrays of
NumPy, containers and plain values, nothing else.  What it names otherwise is an UnpicklingError that says so.
"""
import os
import pickle
import warnings

from . import _C
from ._later import names

DEFAULT_PROTOCOL = 2


def save(obj, f, pickle_module=None, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Writes `obj` (tensors, arrays of NumPy, containers, plain values, state dicts) to a path or a binary file, for load() here
    and in PyTorch.  A path gets its new content at once or not at all.

    Other objects, as whole modules, are pickled by Python, with a warning: load() refuses their files, load_objects() reads them.
    The pickle is of protocol 2, whatever is asked for.
    """
    try:
        if hasattr(f, "write"):
            _C._save_to_file(obj, f.write)
        else:
            _C._save_to_path(obj, os.fsdecode(f))
    except ValueError as error:  # no data alone, which is seen before anything is written
        from ._objects import save as save_objects
        try:
            save_objects(obj, f)
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as second:
            raise error from second
        warnings.warn(f"{error}.  It was pickled by Python instead: load() refuses such a file; PyTorch and "
                      "argand.serialization.load_objects() read it, and run what it names", stacklevel=2)


class _Storage:
    """A storage as a function of map_location sees it: what is done with it tells where it goes."""

    def __init__(self, device="cpu"):
        self.device = _C.device(device)

    def cpu(self):
        """To the memory of the CPU."""
        return _Storage()

    def cuda(self, device=None, non_blocking=False):
        """To a GPU, the current one if not said."""
        if device is None or isinstance(device, int):
            device = _C.device("cuda" if device is None else f"cuda:{device}")
        return _Storage(device)

    def to(self, *, device, non_blocking=False):
        """To a device."""
        return _Storage(device)


def _placed(map_location):
    """A function from where a storage was to where it goes; None if it stays where it was."""
    if map_location is None:
        return None
    if callable(map_location):
        def ask(location):
            answer = map_location(_Storage(), location)
            return location if answer is None else str(answer.device)
        return ask
    if isinstance(map_location, dict):
        return lambda location: str(map_location.get(location, location))
    device = str(_C.device(map_location))
    return lambda location: device


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, verify=None, **pickle_load_args):
    """What save() here or torch.save wrote to a path or a binary file; a safetensors file, or the path of
    an index of several (model.safetensors.index.json), is a dict of its tensors.

    Data alone is read, whatever weights_only says; load_objects() is for the rest.  `map_location`: the device, or a dict or
    function that tells it.  `mmap`: the elements are pages of the file, read when they are first used; for a path alone.  `verify`: whether checksums
    are compared; if not said, of all that is read, and not of mapped elements, since that would read them all.
    """
    if hasattr(f, "read"):
        if mmap:
            raise ValueError("load: a file can be mapped only if it is given by its path")
        source = f.read()
        if not isinstance(source, bytes):
            raise pickle.UnpicklingError(f"load: expected a binary file, got one that reads {type(source).__name__}")
    else:
        source = os.fsdecode(f)
    try:
        return _C._load(source, _placed(map_location), bool(mmap), None if verify is None else bool(verify))
    except pickle.UnpicklingError as error:
        if "is refused: only tensors" not in str(error):
            raise
        raise pickle.UnpicklingError(f"{error}; argand.serialization.load_objects() runs what a file names: for files that you "
                                     "trust") from None


def load_objects(f, map_location=None):
    """What save() here or torch.save wrote to a path or a binary file, with the objects of Python's in it, such as whole modules
    (Argand's own).

    Python's unpickler makes them, which imports and calls whatever the file names: only for files that you trust.  load() never
    does.
    """
    from ._objects import load as load_trusted
    return load_trusted(f.read() if hasattr(f, "read") else os.fsdecode(f), _placed(map_location))


def damaged_files():
    """Paths of mapped files in use that were cut meanwhile: elements that are gone read as 0 (load(mmap=True); Argand's own).

    Whoever needs certainty loads without mmap.
    """
    return _C._damaged_mappings()


__getattr__ = names(__name__, f"{__package__}._serialization_names")
