"""How ranks load one save together: each reads its parts, and all decide whether it is whole."""
import errno
import os
import pickle
import warnings

from .. import _C
from .._functions import frombuffer
from ._agreement import plain, raise_first
from ._generations import SHARED, name_of_rank

_PIECE = 64 << 20  # bytes that are sent at a time


class Damaged(Exception):
    """A part that is not what it should be."""


class Loading:
    """The loading of saves for one call."""

    def __init__(self, ranks, who, call, folder, place):
        self._ranks, self._who, self._call, self._folder, self._place = ranks, who, call, folder, place

    def load(self, generation):
        """(what shared.pt holds, this rank's own state, ""), or (None, None, why it is not whole): the same on all ranks."""
        own, shared, why, error = None, None, [], None
        try:
            if generation.ranks == self._ranks.size:
                own = self._read(generation, self._ranks.rank, why)
            shared = self._read(generation, None, why)
        except Exception as failure:  # noqa: BLE001: no damage: an older save would be no better
            error = failure
        heard = self._gather(error, own=own and own["save"], shared=shared and shared["save"], why=list(map(plain, why)),
                             path=plain(self._path(generation, self._ranks.rank)))
        save, why = self._decide(generation, heard)
        if save is None:
            return None, None, why
        if why and self._ranks.rank == 0:  # a copy that another rank has is whole
            warnings.warn(f"{self._who}: {why}", stacklevel=3)
        holders = [rank for rank, each in enumerate(heard) if each["shared"] == save]
        if len(holders) < self._ranks.size:
            received = self._send(self._path(generation, None), holders)
            shared = shared if received is None else received
        return shared, own["state"] if own else [], ""

    def _gather(self, error, **said):
        heard = self._ranks.agree(self._who, self._call, said, error)
        raise_first(self._who, self._call, heard, error)
        return heard

    def _path(self, generation, rank):
        return os.path.join(self._folder, generation.name, SHARED if rank is None else name_of_rank(rank))

    def _read(self, generation, rank, why):
        """The part of a rank, or the shared one; None if it is not there or damaged, with the reason in `why`."""
        path = self._path(generation, rank)
        try:
            content = _C._load(path, self._place, False, True)
            self._check(content, generation, rank)
        except FileNotFoundError:
            if rank is not None:
                why.append(f"'{path}' is gone")
        except (Damaged, pickle.UnpicklingError, _C.IoError) as error:
            why.append(str(error) if path in str(error) else f"'{path}': {error}")
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            why.append(f"'{path}': {error.strerror}")
        else:
            return content
        return None

    def _check(self, content, generation, rank):
        if not isinstance(content, dict) or content.get("format") != "argand.checkpoint":
            raise Damaged("expected a part of a save of DistributedCheckpointFolder, got another file")
        # If a save has no parts of single ranks, the number of ranks does not matter.
        size = generation.ranks or content["world_size"]
        expected = generation.name, size, rank
        got = content["generation"], content["world_size"], content["rank"]
        if got != expected:
            raise Damaged(f"expected {_spelled(*expected)}, got {_spelled(*got)}")

    def _decide(self, generation, heard):
        """(the id of the save that all ranks have their parts of, None if there is none, and what is wrong with parts)."""
        has_own = generation.ranks == self._ranks.size
        first = {}  # what several ranks say of one file is said once
        for rank, each in enumerate(heard):
            for text in each["why"]:
                first.setdefault(text, rank)
        why = [f"rank {rank}: {text}" for text, rank in first.items()]
        candidates = list(dict.fromkeys(each["shared"] for each in heard if each["shared"]))
        save = next((save for save in candidates if not has_own or all(each["own"] == save for each in heard)), None)
        if save is None and candidates:
            expected = candidates[0]
            why += [f"rank {rank}: '{each['path']}': expected a part of save {expected[:8]}, as {SHARED} is, got one of save {each['own'][:8]}"
                    for rank, each in enumerate(heard) if each["own"] not in (None, expected)]
        return save, ", ".join(why[:3]) + (", ..." if len(why) > 3 else "")

    def _send(self, path, holders):
        """Brings the file to ranks that do not have it; what it holds, there."""
        error, file, size = None, None, 0
        if self._ranks.rank == holders[0]:
            try:
                file = open(path, "rb")
                size = os.fstat(file.fileno()).st_size
            except OSError as failure:
                error = failure
        size = self._gather(error, size=size)[holders[0]]["size"]
        pieces = []
        for begin in range(0, size, _PIECE):
            piece = _C.empty(min(_PIECE, size - begin), dtype=_C.uint8)
            if file is not None:
                data = bytearray(file.read(len(piece))).ljust(len(piece), b"\0")  # zeros do not have its checksum
                piece = frombuffer(data, dtype=_C.uint8)
            self._ranks.broadcast(piece, holders[0])
            if self._ranks.rank not in holders:
                pieces.append(piece.numpy().tobytes())
        if file is not None:
            file.close()
        content = None
        if self._ranks.rank not in holders:
            try:
                content = _C._load(b"".join(pieces), self._place, False, True)
            except Exception as failure:  # noqa: BLE001: the other ranks must hear of it
                error = failure
        self._gather(error)
        return content


def _spelled(generation, world_size, rank):
    part = "the shared part" if rank is None else f"the part of rank {rank}"
    return f"{part} of {world_size} ranks in {generation}"
