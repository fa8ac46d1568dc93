"""Checkpoints of a training run: nothing that was saved is lost, and a resumed run gives the bits of one that never stopped.

    folder = argand.checkpoint.CheckpointFolder("run")
    parts = dict(model=model, optimizer=optimizer, scheduler=scheduler, scaler=scaler, loader=loader)
    epoch = step = 0
    if folder.steps():
        saved = restore(folder.load_latest().state, **parts)
        epoch, step = saved["epoch"], saved["step"]
    with StopSignal() as stop:
        for epoch in range(epoch, epochs):
            for x, y in loader:                  # goes on behind the last batch that was given out
                ...                              # one step
                step += 1
                if step % 1000 == 0 or stop.requested:
                    folder.save_async(step, training_state(epoch=epoch, step=step, **parts))
                if stop.requested:
                    folder.close()
                    sys.exit(128 + stop.signal)

(torch.utils.checkpoint is something else: it computes activations anew.)
"""
import collections
import copy
import os
import random
import signal
import sys
import weakref

from . import _C, cuda
from .random import get_rng_state, set_rng_state
from .serialization import _placed

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
        """Where the file of a step is, or would be."""
        return self._folder.path_of(step)


def _random_states():
    states = {"cpu": get_rng_state(), "python": random.getstate()}
    if cuda.is_available() and cuda.is_initialized():
        states["cuda"] = [cuda.get_rng_state(i) for i in range(cuda.device_count())]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, position, has_normal, normal = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_normal), float(normal))
    return states


def _set_random_states(states):
    set_rng_state(states["cpu"])
    random.setstate(states["python"])
    for i, state in enumerate(states.get("cuda", ())):
        if cuda.is_available() and i < cuda.device_count():
            cuda.set_rng_state(state, i)
    if "numpy" in states:
        import numpy
        kind, keys, *rest = states["numpy"]
        numpy.random.set_state((kind, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))


def training_state(*, epoch=0, step=0, **parts):
    """All that it takes to go on: state_dict() of each part (of None, None), epoch, step and the generators' states.

    Parts are the model, optimizer, scheduler, scaler, loader and whatever else has state_dict() and load_state_dict();
    plain values stay as they are.  Tensors share memory with the parts.
    """
    states = {name: part.state_dict() if hasattr(part, "state_dict") else part for name, part in parts.items()}
    return {"epoch": epoch, "step": step, "random": _random_states(), "parts": states}


def restore(state, **parts):
    """Puts a training_state() back into the same parts; all of it or, if anything raises, nothing.

    Returns epoch, step and the plain values by their names.
    """
    saved = state["parts"]
    objects = {name: part for name, part in parts.items() if hasattr(part, "load_state_dict")}
    missing = sorted(objects.keys() - saved.keys())
    if missing:
        raise ValueError(f"restore: the state has no {', '.join(missing)}; it has {', '.join(saved)}")
    before = {name: copy.deepcopy(part.state_dict()) for name, part in objects.items()}
    random_before = _random_states()
    done = []
    try:
        for name, part in objects.items():
            done.append(name)
            part.load_state_dict(saved[name])
        _set_random_states(state["random"])
    except BaseException:
        for name in done:
            objects[name].load_state_dict(before[name])
        _set_random_states(random_before)
        raise
    rest = {name: value for name, value in saved.items() if name not in objects}
    return {**rest, "epoch": state["epoch"], "step": state["step"]}


class StopSignal:
    """While it is entered, the first SIGINT or SIGTERM sets `requested`, the second one ends the program at once.

    A signal that is ignored (nohup) stays ignored.  For the main thread.
    """
    _NUMBERS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self):
        self.signal = 0  # the number that came
        self._before = {}

    @property
    def requested(self):
        """Whether the program was asked to stop."""
        return self.signal != 0

    def _note(self, number, frame):
        if self.requested:
            os._exit(128 + number)
        self.signal = number

    def __enter__(self):
        for number in self._NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error):
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
