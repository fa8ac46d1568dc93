"""Rarely used names of torch.serialization and settings of PyTorch's reader, loaded at first use."""
import enum
import os
import typing
from mmap import MAP_PRIVATE, MAP_SHARED  # noqa: F401

from .. import _C
from .._ignored import ignored
from .state import SourceChangeWarning, _serialization_tls, mapping, safe  # noqa: F401

FILE_LIKE = typing.Union[str, os.PathLike, typing.IO[bytes]]
MAP_LOCATION = typing.Optional[typing.Union[typing.Callable[[typing.Any, str], typing.Any], _C.device, str, typing.Dict[str, str]]]
def add_safe_globals(safe_globals):
    """Lets load() make and call these classes and functions where files name them: each as it is, or as (it, "name.in.files")."""
    safe.extend(g for g in safe_globals if g not in safe)


def get_safe_globals():
    """The classes and functions that add_safe_globals() allowed."""
    return list(safe)


def clear_safe_globals():
    """Forgets what add_safe_globals() was told."""
    safe.clear()


class safe_globals:
    """add_safe_globals() for a scope."""

    def __init__(self, safe_globals):
        self._given = safe_globals

    def __enter__(self):
        self._before = list(safe)
        add_safe_globals(self._given)

    def __exit__(self, *_):
        safe[:] = self._before


def get_unsafe_globals_in_checkpoint(f):
    """The names in a file that neither load() knows nor add_safe_globals() allowed, as a list."""
    from .unpickling import globals_in, is_known, named_globals
    source = f.read() if hasattr(f, "read") else os.fsdecode(f)
    archive = _C._TorchArchive(source, None, False, None)
    if not archive.is_archive():
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    named = named_globals()
    return [name for name in globals_in(archive) if name not in named and not is_known(name)]


class LoadEndianness(enum.Enum):
    """The order of the bytes of elements in files that do not say it."""
    NATIVE = 1
    LITTLE = 2
    BIG = 3

_orders = {"load": None}


def get_default_load_endianness():
    """The byte order that set_default_load_endianness() chose."""
    return _orders["load"]


def set_default_load_endianness(endianness):
    """Sets the byte order of elements in files that do not name one; None: this machine's."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _C._set_loads_big_endian(endianness is LoadEndianness.BIG)
    _orders["load"] = endianness


def get_crc32_options():
    """True: files get checksums."""
    return True


@ignored(compute_crc32=("files get checksums, which readers may leave alone", True))
def set_crc32_options(compute_crc32):
    """Without effect: files get checksums."""


def get_default_mmap_options():
    """What set_default_mmap_options() chose."""
    return MAP_SHARED if mapping["shared"] else MAP_PRIVATE


class set_default_mmap_options:
    """How load(mmap=True) gives the elements of files, from now on or for a scope.

    MAP_PRIVATE: what is written to them does not reach the file.  MAP_SHARED: it does, and what others write to the file is seen; their
    checksums in the file are then wrong, so that load(verify=False) reads it without mmap.
    """

    def __init__(self, flags):
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                             f"but got {flags}")
        self._before, mapping["shared"] = mapping["shared"], flags == MAP_SHARED

    def __enter__(self):
        return self

    def __exit__(self, *_):
        mapping["shared"] = self._before


class skip_data:
    """A scope in which save() writes zeros for the elements of all storages, which are then not looked at.

    materialize_fake_tensors: FakeTensors are saved as tensors of zeros on the device that they claim.
    """

    def __init__(self, materialize_fake_tensors=False):
        self._set = {"skip_data": True, "materialize_fake_tensors": bool(materialize_fake_tensors)}

    def __enter__(self):
        self._before = {name: getattr(_serialization_tls, name) for name in self._set}
        vars(_serialization_tls).update(self._set)

    def __exit__(self, *_):
        vars(_serialization_tls).update(self._before)


def location_tag(storage):
    """The location of a storage, as files name it."""
    device = storage.device
    return "cpu" if device.type == "cpu" else str(device)
