"""Checkpoints of several processes: one save is one generation, and all ranks agree on which one is whole."""
import collections
import errno
import operator
import os
import secrets
import threading
import warnings
import weakref

from .. import _C
from ..serialization import _placed
from ._agreement import Ranks, is_first_of_machine, raise_first
from ._generations import SHARED, Generation, found_in, generation_of, make_folder, name_of_rank, remove
from ._loading import Loading
from .._per_rank import merge, spelled, split

LoadedByRanks = collections.namedtuple("LoadedByRanks", "state step path skipped world_size")
LoadedByRanks.__doc__ = "What load_latest() found; `skipped`: (path, reason) of newer saves; `world_size`: how many ranks saved it."
_WHO = "DistributedCheckpointFolder"


class DistributedCheckpointFolder:
    """The newest `keep` checkpoints of a run of several processes, or of one; its path may be one for all or on a disk of each machine.

    Rank 0 writes what is alike on all ranks, each rank its PerRank dicts: the generators and the loader of a training_state().  A
    save is whole if every part of it is.  Only then are old ones removed, and only such a save is loaded, the same on all ranks.

    All ranks of `group` (None: of all processes) call each method, in the same order; without a process group this process is
    alone.  What one rank fails with is raised on all.
    """

    def __init__(self, path, keep=3, group=None):
        if keep < 1:
            raise ValueError(f"{_WHO}: expected keep > 0, got {keep}")
        self._path, self._keep, self._group = os.fsdecode(path).rstrip("/") or "/", keep, group
        self._known = None
        self._writing = None  # what save_async() has begun
        self._damaged = set()  # generations that load_latest() has passed over
        self._last = [None]
        weakref.finalize(self, _tell_of_failure, self._last)

    # ---- saving

    def save(self, step, state):
        """Writes `state` (what torch.save takes, with a PerRank where ranks differ); returns the path of its folder.

        When it returns, all ranks have written, and the files survive a power loss.  If a rank cannot write, all of them raise what
        it failed with (an OSError has its file, and bytes_needed and bytes_free if a disk is full), and what was there before stays.
        ValueError for a step before one that is there: a run that goes back needs a folder of its own.
        """
        self.close()
        writing = self._begin(f"save({step!r})", step, state, copied=False)
        writing.run()
        self._settle(writing)
        return writing.path

    def save_async(self, step, state):
        """Copies the tensors to memory of the host and returns; writes them meanwhile, as save() does.

        Returns a PendingSave.  What fails is raised by its wait(), or by the next save(), save_async() or close(): then, too, old
        saves are removed.
        """
        self.close()
        writing = self._begin(f"save_async({step!r})", step, state, copied=True)
        writing.start()
        self._writing = self._last[0] = writing
        return PendingSave(self, writing)

    def close(self):
        """Waits until all ranks have written."""
        if self._writing is not None:
            self._settle(self._writing)

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        if kind is None:
            self.close()
        elif self._writing is not None:  # the other ranks may not come
            self._writing.join()

    def _begin(self, call, step, state, copied):
        error, shared, own, found = None, None, [], {}
        try:
            step = operator.index(step)
            if step < 0:
                raise ValueError(f"expected a step >= 0, got {step}")
            shared, own = split(state)
            found = found_in(self._path, self._ranks.rank)
        except Exception as failure:  # noqa: BLE001: the other ranks must hear of it
            error = failure
        paths = [path for path, _ in own]
        heard = self._agree(call, found, error, save=secrets.token_hex(16), keep=self._keep, per_rank=paths)
        raise_first(_WHO, call, heard, error)
        self._check_alike(call, heard)
        listing = Listing(heard)
        generation = self._next(step, self._ranks.size if paths else 0, listing)
        self._clean([g for g in found if g[:2] < generation[:2] and (not listing.is_there(g) or g in self._damaged)])
        writing = Writing(self._path, generation, call, listing)
        about = {"format": "argand.checkpoint", "generation": generation.name, "save": heard[0]["save"],
                 "world_size": self._ranks.size, "per_rank": paths}
        if self._ranks.rank == 0:
            writing.add(SHARED, {**about, "rank": None, "state": shared}, copied)
        if paths:
            writing.add(name_of_rank(self._ranks.rank), {**about, "rank": self._ranks.rank, "state": own}, copied)
        return writing

    def _check_alike(self, call, heard):
        for name, spell in (("keep", str), ("per_rank", lambda paths: "PerRank at " + (", ".join(map(spelled, paths)) or "no place"))):
            for rank, each in enumerate(heard):
                if each[name] != heard[0][name]:
                    raise ValueError(f"{_WHO}: {call}: expected the same {name} on all ranks; rank 0 has {spell(heard[0][name])}, rank "
                                     f"{rank} {spell(each[name])}")

    def _next(self, step, ranks, listing):
        for there in listing.usable():
            if there.step > step and there not in self._damaged:
                raise ValueError(f"{_WHO}: '{self._path}' holds step {there.step}, which is later than {step}: go on from it "
                                 f"(load_latest), use another folder, or remove {there.name}")
        return Generation(step, 1 + max((g.number for g in listing.all() if g.step == step), default=-1), ranks)

    def _settle(self, writing):
        """Hears of all ranks whether they have written; removes old saves, or what was written of one that failed."""
        writing.join()
        if writing.settled:
            return
        heard = self._ranks.agree(_WHO, f"the end of {writing.call}", {}, writing.error)
        writing.settled, self._writing, self._last[0] = True, None, None
        if any(each["error"] for each in heard):
            self._remove(writing.generation, writing.names)
            raise_first(_WHO, writing.call, heard, writing.error)
        whole = sorted({*(g for g in writing.listing.usable() if g not in self._damaged), writing.generation})
        if len(whole) > self._keep:
            self._clean([g for g in found_in(self._path, self._ranks.rank) if g < whole[-self._keep]])

    def _clean(self, generations):
        """Removes saves.  Rank 0, and one process of each machine, remove what others have left, too: if all did, a large world's
        ranks would be in each other's way."""
        names = None if self._ranks.rank == 0 or is_first_of_machine() else [name_of_rank(self._ranks.rank)]
        for generation in generations:
            self._remove(generation, names)

    def _remove(self, generation, names):
        try:
            remove(os.path.join(self._path, generation.name), names)
        except OSError as error:  # it costs disk space only, and is tried again by the next save
            warnings.warn(f"{_WHO}: cannot remove '{error.filename}': {error.strerror}", stacklevel=2)

    # ---- loading

    def steps(self):
        """The steps of saves of which all ranks find their parts; damaged ones are among them."""
        listing = self._look("steps()")
        usable = listing.usable()
        if not usable:
            self._warn_of([(os.path.join(self._path, g.name), listing.why_not(g)) for g in listing.all()])
        return sorted({generation.step for generation in usable})

    def load_latest(self, map_location=None, any_world_size=False):
        """The newest save that is whole, the same on all ranks, as (state, step, path, skipped, world_size); checksums are compared.

        A rank that does not find the shared part (a disk of another machine) gets it from one that does; its own part it must find.
        Newer saves that are not whole are passed over, and rank 0 warns.  FileNotFoundError if there is none; IoError if all that
        are there are damaged.
        any_world_size: whether to load a save of another number of ranks.  What ranks had for themselves is left out of it then, an
            empty PerRank is in its place, and rank 0 warns.  Otherwise such a save is a ValueError, if it has a PerRank.
        """
        call = f"load_latest(any_world_size={bool(any_world_size)})"
        if self._writing is not None:
            self._writing.join()
        listing, skipped = self._look(call), []
        loading = Loading(self._ranks, _WHO, call, self._path, _placed(map_location))
        for generation in listing.all():
            path, why = os.path.join(self._path, generation.name), listing.why_not(generation)
            if not why:
                self._check_world_size(generation, any_world_size)
                content, own, why = loading.load(generation)
            if why:
                skipped.append((path, why))
                continue
            self._damaged = {generation_of(os.path.basename(passed)) for passed, _ in skipped}
            self._warn_of(skipped, path)
            if generation.ranks not in (0, self._ranks.size) and self._ranks.rank == 0:
                warnings.warn(f"{_WHO}: {path} is of {generation.ranks} ranks, and this group has {self._ranks.size}: left out: "
                              + ", ".join(map(spelled, content["per_rank"])), stacklevel=2)
            state = merge(content["state"], own, content["per_rank"])
            return LoadedByRanks(state, generation.step, path, tuple(skipped), content["world_size"])
        what = "".join(f"\n  {path}: {why}" for path, why in skipped)
        if listing.usable():
            raise _C.IoError(f"{_WHO}: every checkpoint in '{self._path}' is damaged:{what}")
        holds = f"it holds what is not whole:{what}" if what else "there is no such folder" if not os.path.exists(self._path) else \
            f"it holds {len(os.listdir(self._path))} other files"
        raise FileNotFoundError(errno.ENOENT, f"no checkpoint of {self._ranks.size} ranks: {holds}", self._path)

    def _check_world_size(self, generation, any_world_size):
        if generation.ranks in (0, self._ranks.size) or any_world_size:
            return
        raise ValueError(f"{_WHO}: '{self._path}/{generation.name}' has a part of each of {generation.ranks} ranks (generators, loaders), "
                         f"and this group has {self._ranks.size}: start as many, or leave these parts out (any_world_size=True)")

    def _warn_of(self, skipped, path=None):
        if self._ranks.rank == 0:
            for passed, why in skipped:
                warnings.warn(f"{_WHO}: passed over {passed}: {why}", stacklevel=3)
            if skipped and path:
                warnings.warn(f"{_WHO}: going on from {path}", stacklevel=3)

    # ---- agreement

    @property
    def _ranks(self):
        if self._known is None or self._known.size == 1:  # a process group may have been made since
            self._known = Ranks(self._group)
        return self._known

    def _look(self, call):
        found, error = {}, None
        try:
            found = found_in(self._path, self._ranks.rank)
        except OSError as failure:
            error = failure
        heard = self._agree(call, found, error)
        raise_first(_WHO, call, heard, error)
        return Listing(heard)

    def _agree(self, call, found, error, **said):
        return self._ranks.agree(_WHO, call, {"found": {g.name: parts for g, parts in found.items()}, **said}, error)


class Listing:
    """The saves that all ranks together have found, by name: the same on all of them."""

    def __init__(self, heard):
        self._size = len(heard)
        self._found = [{generation_of(name): parts for name, parts in each["found"].items()} for each in heard]

    def all(self):
        """Each generation of which something is there, the newest first."""
        return sorted({generation for each in self._found for generation in each}, reverse=True)

    def usable(self):
        """The saves whose parts are all there."""
        return [generation for generation in self.all() if self.is_there(generation)]

    def is_there(self, generation):
        """Whether all of its parts are."""
        return not self.why_not(generation)

    def why_not(self, generation):
        """Says which parts are missing; "" if none are.  Only the shared part can be used of a save by another number of ranks."""
        parts = [each.get(generation, (False, False)) for each in self._found]
        missing = [] if any(shared for shared, _ in parts) else [f"no rank finds {SHARED}"]
        if generation.ranks == self._size:
            missing += [f"rank {rank} does not find {name_of_rank(rank)}" for rank, (_, own) in enumerate(parts) if not own]
        return ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")


class Writing:
    """The parts of a save that this rank writes."""

    def __init__(self, folder, generation, call, listing):
        self.generation, self.call, self.listing = generation, call, listing
        self.path = os.path.join(folder, generation.name)
        self.names, self.error, self.settled = [], None, False
        self._images, self._thread = [], None

    def add(self, name, content, copied):
        """A file of it.  With copied the program may change its tensors afterwards."""
        self.names.append(name)
        try:
            self._images.append((os.path.join(self.path, name), _C._SaveImage(content, copied)))
        except Exception as error:  # noqa: BLE001: the other ranks must hear of it, when they are asked
            self.error = self.error or error

    def run(self):
        """Writes; keeps what it failed with."""
        images, self._images = self._images, []
        try:
            if images and self.error is None:
                make_folder(self.path)
                for path, image in images:
                    image.write(path)
        except Exception as error:  # noqa: BLE001: the same
            self.error = error

    def start(self):
        """run() in a thread, which the program waits for when it ends."""
        self._thread = threading.Thread(target=self.run, name="argand.checkpoint")
        self._thread.start()

    def join(self):
        """Until this rank's parts are written."""
        if self._thread is not None:
            self._thread.join()

    def done(self):
        """Whether they are."""
        return self._thread is None or not self._thread.is_alive()


class PendingSave:
    """A save under way; path: where."""

    def __init__(self, folder, writing):
        self._folder, self._writing, self._error = folder, writing, None
        self.path = writing.path

    def done(self):
        """Whether this rank has written its parts.  Each rank may ask for itself."""
        return self._writing.done()

    def wait(self):
        """Until all ranks have; raises what one of them failed with.  All ranks call it."""
        self._folder._settle(self._writing)


def _tell_of_failure(last):
    """At the end of the program, or of the folder: a save that nobody has waited for."""
    writing = last[0]
    if writing is not None:
        writing.join()
        if writing.error is not None:
            warnings.warn(f"{_WHO}: {writing.call} failed: {writing.error}", stacklevel=2)
