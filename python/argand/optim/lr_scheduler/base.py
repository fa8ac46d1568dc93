"""The base of schedules of learning rates."""
import contextlib
import functools
import warnings
import weakref

from ... import _C
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose.")


def _copied(value):
    """A number, or a tensor of its own: the rate in a group may be written in place."""
    return value.clone() if isinstance(value, _C.Tensor) else value


def _set(group, key, value):
    if isinstance(group[key], _C.Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def _one_for_each_group(name, optimizer, value):
    groups = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != groups:
            raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
                             f"param_groups has {groups}.")
        return [_copied(v) for v in value]
    return [_copied(value) for _ in range(groups)]


def _note_steps(optimizer):
    """Makes optimizer.step() note that it was called, for the warning about the wrong order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    bound, of = optimizer.step, weakref.ref(optimizer)
    own = getattr(bound, "__self__", None) is optimizer  # what it holds must not hold it
    step = bound.__func__ if own else bound

    @functools.wraps(step)
    def call(*args, **kwargs):
        optimizer = of()
        optimizer._opt_called = True
        return step(optimizer, *args, **kwargs) if own else step(*args, **kwargs)
    call._wrapped_by_lr_sched = True
    optimizer.step = call


class LRScheduler:
    """The base of schedules: a subclass writes get_lr(), the rates of all groups after `last_epoch` steps, from those
    before or (as _get_closed_form_lr()) from base_lrs alone.
    """
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                               "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                               "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 "
                               "for a fresh training run (not recommended)")
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """The attributes of the scheduler, without the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what state_dict() returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates of all groups that the last step() set."""
        return [_copied(lr) for lr in self._last_lr]

    def get_lr(self):
        """The rates of all groups for the current epoch; for step() alone."""
        raise NotImplementedError

    def _warn_get_lr_called_within_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                          UserWarning, stacklevel=3)

    @contextlib.contextmanager
    def _within_step(self):
        self._get_lr_called_within_step = True
        try:
            yield
        finally:
            self._get_lr_called_within_step = False

    def step(self, epoch=None):
        """Sets the rates of the next epoch (after optimizer.step())."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                              "Please, make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
                              "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", UserWarning,
                              stacklevel=2)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, "
                              "you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  "
                              "Failure to do this will result in PyTorch skipping the first value of the learning rate "
                              "schedule. See more details at "
                              "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate", UserWarning,
                              stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        """To the next epoch, or to that one."""
        with self._within_step():
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                values = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, values):
            _set(group, "lr", lr)
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _rates(self):
        """The rates that get_lr() starts from."""
        self._warn_get_lr_called_within_step()
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _start_again(self):
        """Epoch 0, when a SequentialLR comes to this schedule."""
        self._update_lr(0)


_LRScheduler = LRScheduler
