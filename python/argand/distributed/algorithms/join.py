"""Training with different numbers of batches, as torch.distributed.algorithms.join: a process without batches takes part in the
collectives of the others until all are done."""
import abc

from ... import _C
from ..._ignored import harmless
from .. import ReduceOp
from .._collectives import all_reduce

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """The actions of a process without batches, for one Joinable."""

    def main_hook(self):
        """Runs the collectives of one step; called for each step of the others."""

    @harmless(is_last_joiner="classes derived from this one use it")
    def post_hook(self, is_last_joiner):
        """Called once, when no process has batches left."""


class Joinable(abc.ABC):
    """A class that runs collectives in each step: its join_hook() takes part in them in processes without batches."""

    @abc.abstractmethod
    def __init__(self):
        super().__init__()
        self._join_config = None

    @abc.abstractmethod
    def join_hook(self, **kwargs):
        """A JoinHook; the arguments are those of Join."""

    @property
    @abc.abstractmethod
    def join_device(self):
        """The device of the tensors that it sends."""

    @property
    @abc.abstractmethod
    def join_process_group(self):
        """The group that it sends in."""

    @classmethod
    def __subclasshook__(cls, other):
        """A class that has all three counts as one, as DistributedDataParallel does, whose file does not import this one."""
        if cls is Joinable and all(hasattr(other, name) for name in ("join_hook", "join_device", "join_process_group")):
            return True
        return NotImplemented


class Join:
    """A scope for a loop over batches, with what the loop sends.  The first Joinable's calls count the steps.

    throw_on_early_termination: all processes raise RuntimeError as soon as one has no batches left.
    The other arguments go to the Joinables' join_hook().
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        groups = {joinable.join_process_group for joinable in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._joinables, self._enabled, self._throws = list(joinables), enable, throw_on_early_termination
        self._group = groups.pop()
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        # The processes that had batches in the last step, and whether it sent gradients.
        self.active, self.synced = list(range(self._group.size())), True

    @property
    def hooks(self):
        """The hooks of the Joinables, in their order."""
        return self._hooks

    def __enter__(self):
        if self._enabled:
            for joinable in self._joinables:
                joinable._join_config = self

    def __exit__(self, kind, value, traceback):
        if not self._enabled:
            return
        try:
            if kind is None:
                self._shadow()
        finally:
            for joinable in self._joinables:
                joinable._join_config = None

    def _shadow(self):
        last = True
        while True:
            self._count(0)
            if not self.active:
                break
            if self._throws:
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            last = False
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    def _count(self, mine):
        """Tells all processes whether this one has a batch: 0 if not, 1, or 2 if it sends gradients."""
        counts = _C.zeros(self._group.size(), dtype=_C.int64)
        counts[self._group.rank()] = mine
        all_reduce(counts, group=self._group)
        counts = counts.tolist()
        self.active = [rank for rank, n in enumerate(counts) if n > 0]
        self.synced = max(counts) == 2

    def last_rank(self, is_last_joiner):
        """One of the processes that had batches to the end: the same everywhere."""
        mine = _C.tensor([self._group.rank() if is_last_joiner else -1])
        all_reduce(mine, ReduceOp.MAX, self._group)
        return int(mine)

    @staticmethod
    def notify_join_context(joinable):
        """What a Joinable calls in each step before it sends anything.  The first of the scope tells the others."""
        join = joinable._join_config
        if join is None or joinable is not join._joinables[0]:
            return
        join._count(2 if getattr(joinable, "require_backward_grad_sync", True) else 1)
        if join._throws and len(join.active) < join._group.size():
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")

