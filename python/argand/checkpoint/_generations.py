"""Where the parts of a save lie.

    run/step-000001000-4-ranks/shared.pt            the state that is equal on all ranks, written by rank 0
    run/step-000001000-4-ranks/rank-0.pt            the state of rank 0 alone ... rank-3.pt
    run/step-000001000-4-ranks.1/...                the second save of that step
    run/step-000002000/shared.pt                    a save without state of single ranks

No two saves write to the same folder, so no save can damage another one.
"""
import collections
import contextlib
import os
import re

_NAME = re.compile(r"step-(\d{9,})(?:-(\d+)-ranks)?(?:\.(\d+))?")
SHARED = "shared.pt"


class Generation(collections.namedtuple("Generation", "step number ranks")):
    """One save.  number: which of this step; ranks: how many have a part of their own, 0 if there are none.  They are ordered."""

    @property
    def name(self):
        """The name of its folder."""
        return f"step-{self.step:09}" + (f"-{self.ranks}-ranks" if self.ranks else "") + (f".{self.number}" if self.number else "")


def generation_of(name):
    """The generation of a folder's name; None for a name that is not one of ours."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    step, ranks, number = (int(digits or 0) for digits in match.groups())
    made = Generation(step, number, ranks)
    return made if made.name == name else None


def name_of_rank(rank):
    """The name of its part."""
    return f"rank-{rank}.pt"


def found_in(path, rank):
    """{generation: whether its shared part is there, and that of the rank}."""
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        return {}
    generations = filter(None, map(generation_of, names))
    return {g: tuple(os.path.exists(os.path.join(path, g.name, part)) for part in (SHARED, name_of_rank(rank))) for g in generations}


def make_folder(path):
    """Makes a folder that survives a power loss, and those above it."""
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent):
        make_folder(parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)
    handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)  # whoever made it may not have come to this
    finally:
        os.close(handle)


def remove(path, names):
    """Removes files of a generation's folder (None: all), and the folder if it is empty.  Another rank may do the same meanwhile."""
    try:
        for name in os.listdir(path) if names is None else names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(path, name))
        with contextlib.suppress(OSError):  # another rank's part is there yet
            os.rmdir(path)
    except (FileNotFoundError, NotADirectoryError):  # it is gone, or a file that somebody gave such a name
        pass
