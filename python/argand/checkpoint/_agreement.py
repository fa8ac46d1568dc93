"""How ranks agree: each sends what it calls and what it found, and all receive the same answers."""
import os

from .. import _C


class Ranks:
    """The processes of a group; this one alone where there is none."""

    def __init__(self, group):
        from .. import distributed
        self._group = group
        self.rank, self.size = 0, 1
        if group is not None or distributed.is_initialized():
            self.rank, self.size = distributed.get_rank(group), distributed.get_world_size(group)
            if self.rank < 0:
                raise ValueError("DistributedCheckpointFolder: expected a group that this process is in")

    def gather(self, said):
        """Exchanges plain data: returns what each rank sent, in the order of the ranks."""
        if self.size == 1:
            return [said]
        from .. import distributed
        heard = [None] * self.size
        distributed.all_gather_object(heard, said, self._group, weights_only=True)
        return heard

    def broadcast(self, tensor, source):
        """The tensor of one rank, on all."""
        from .. import distributed
        distributed.broadcast(tensor, group=self._group, group_src=source)

    def largest(self, number):
        """The largest of the numbers that the ranks give."""
        from .. import distributed
        all_of_them = _C.tensor([number])
        distributed.all_reduce(all_of_them, distributed.ReduceOp.MAX, self._group)
        return int(all_of_them)

    def agree(self, who, call, said, error=None):
        """gather() of a call that must be the same on all ranks.  An error of this rank is told to the others: see raise_first()."""
        heard = self.gather({"call": call, "error": described(error), **said})
        calls = [each["call"] for each in heard]
        if len(set(calls)) > 1:
            other = next(r for r, each in enumerate(calls) if each != calls[0])
            raise RuntimeError(f"{who}: expected all ranks to make the same call; rank 0 calls {calls[0]}, rank {other} {calls[other]}")
        return heard


def is_first_of_machine():
    """Whether the launcher says so, or says nothing of places on machines."""
    return os.environ.get("LOCAL_RANK", os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0")) == "0"


def plain(text):
    """A text that can be sent, of one that may name a file by bytes that are no text."""
    return text.encode("utf-8", "backslashreplace").decode()


def described(error):
    """An exception as plain data; None for None."""
    if error is None:
        return None
    about = {"type": type(error).__name__, "text": plain(str(error))}
    if isinstance(error, OSError) and error.errno is not None:
        about.update(errno=error.errno, text=plain(error.strerror or ""), file=plain(os.fsdecode(error.filename or "")))
        about.update({name: getattr(error, name) for name in ("bytes_needed", "bytes_free") if hasattr(error, name)})
    return about


def raise_first(who, call, heard, mine=None):
    """Raises on all ranks what the first of them failed with, if one did; mine: this rank's own exception."""
    failed = [(rank, each["error"]) for rank, each in enumerate(heard) if each["error"] is not None]
    if not failed:
        return
    rank, about = failed[0]
    others = "".join(f", rank {r}: {each['text']}" for r, each in failed[1:3]) + (", ..." if len(failed) > 3 else "")
    if "errno" in about:
        error = OSError(about["errno"], f"{who}: {call}: rank {rank}: {about['text']}{others}", about["file"])
        for name in ("bytes_needed", "bytes_free"):
            if name in about:
                setattr(error, name, about[name])
    else:
        kind = {"ValueError": ValueError, "TypeError": TypeError, "MemoryError": MemoryError, "IoError": _C.IoError}
        error = kind.get(about["type"], RuntimeError)(f"{who}: {call}: rank {rank}: {about['type']}: {about['text']}{others}")
    error.rank = rank
    raise error from mine
