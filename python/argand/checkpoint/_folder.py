"""Checkpoints of a program that is one process."""
import collections
import os
import weakref

from .. import _C
from ..serialization import _placed

Loaded = collections.namedtuple("Loaded", "state step path skipped")
Loaded.__doc__ = "What load_latest() found; `skipped`: (path, reason) of newer files, which are damaged."


class CheckpointFolder:
    """The newest `keep` checkpoints of a run: files of save() in one folder, one for each step that was saved.

    When save() returns, the file survives a power loss; only then are old ones removed.  So whatever fails or is killed,
    load_latest() finds what was saved last.  One program writes into a folder at a time.
    """

    def __init__(self, path, keep=3):
        self._folder = _C._CheckpointFolder(os.fsdecode(path), keep)
        weakref.finalize(self, self._folder.close)  # at the end of the program, too

    def save(self, step, state):
        """Writes `state` (what save() takes) and returns the file's path.

        OSError if it cannot be written; one of a full disk has bytes_needed and bytes_free.  Then all is as it was.
        ValueError for a step before one that the folder holds: a run that goes back needs a folder of its own.
        """
        return self._folder.save(step, state)

    def save_async(self, step, state):
        """Copies the tensors to memory of the host and returns; writes them meanwhile, as save() does.

        Returns an object with done() and wait().  Waits for the save before it.  What fails is raised by wait(), or by
        the next save(), save_async() or close().
        """
        return self._folder.save_async(step, state)

    def close(self):
        """Waits for what is being written."""
        self._folder.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def load_latest(self, map_location=None):
        """The newest file that is whole, as (state, step, path, skipped); warns if it has to pass over damaged ones.

        FileNotFoundError if there is none, with what the folder holds; IoError if all are damaged.
        """
        return Loaded(*self._folder.load_latest(_placed(map_location)))

    def steps(self):
        """The steps of the files that are there."""
        return self._folder.steps()

    def path_of(self, step):
        """The path of a step's file, whether it exists or not."""
        return self._folder.path_of(step)
