"""Schedules of learning rates."""
import bisect
import collections
import contextlib
import functools
import math
import types
import warnings
import weakref

from .. import _C
from .optimizer import Optimizer

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
        return list(value)
    return [value] * groups


def _note_steps(optimizer):
    """Makes optimizer.step() note that it was called, for the warning about the wrong order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step, of = optimizer.step, weakref.ref(optimizer)

    @functools.wraps(step)
    def call(*args, **kwargs):
        of()._opt_called = True
        return step(*args, **kwargs)
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
        """All there is but the optimizer."""
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
        self._advance(epoch)

    def _advance(self, epoch=None):
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
        self._step_count += 1
        self._advance(0)


_LRScheduler = LRScheduler


class _OfFunctions(LRScheduler):
    """Functions of the epoch, one or one for each group; functions are no part of the state dict, objects' attributes are."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        attributes = state.pop("lr_lambdas")
        self.__dict__.update(state)
        for function, values in zip(self.lr_lambdas, attributes):
            if values is not None:
                function.__dict__.update(values)


class LambdaLR(_OfFunctions):
    """The initial rate times a function of the epoch."""

    def get_lr(self):
        self._warn_get_lr_called_within_step()
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_OfFunctions):
    """The rate before times a function of the epoch."""

    def get_lr(self):
        rates = self._rates()
        if self._is_initial:
            return rates
        return [lr * f(self.last_epoch) for lr, f in zip(rates, self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return rates
        return [lr * self.gamma for lr in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = collections.Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self.last_epoch not in self.milestones:
            return rates
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in rates]

    def _get_closed_form_lr(self):
        passed = bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times `factor` for total_iters epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in rates]
        if self.last_epoch != self.total_iters:
            return rates
        return [lr * (1.0 / self.factor) for lr in rates]

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """Times a factor that goes from start_factor to end_factor over total_iters epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        rise = self.end_factor - self.start_factor
        return [lr * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)) for lr in rates]

    def _get_closed_form_lr(self):
        rise = self.end_factor - self.start_factor
        return [base * (self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters)
                for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        return rates if self._is_initial else [lr * self.gamma for lr in rates]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Times (1 - epoch / total_iters)^power."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        decay = ((1.0 - self.last_epoch / self.total_iters) / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power
        return [lr * decay for lr in rates]

    def _get_closed_form_lr(self):
        return [base * (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
                for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to eta_min in T_max epochs, and back."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        rates = self._rates()
        if self._is_initial:
            return rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return [lr + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                    for base, lr in zip(self.base_lrs, rates)]
        factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / (
            1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max))
        return [factor * (lr - self.eta_min) + self.eta_min for lr in rates]

    def _get_closed_form_lr(self):
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
                for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines, the first over T_0 epochs, each T_mult times as long as the one before; step() takes fractions."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_get_lr_called_within_step()
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
                for base in self.base_lrs]

    def step(self, epoch=None):
        """Sets the rates of the next epoch, or of `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            if epoch < self.T_0:
                self.T_i, self.T_cur = self.T_0, epoch
            elif self.T_mult == 1:
                self.T_i, self.T_cur = self.T_0, epoch % self.T_0
            else:
                n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**n
        self._advance(math.floor(epoch))

    def _start_again(self):
        self.step(0)


class _CyclesMomentum(LRScheduler):
    """What schedules share that also change the momentum, or the first beta, of the optimizer."""

    def _begin_momentum(self, optimizer, base, largest, first):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases = _one_for_each_group("base_momentum", optimizer, base)
        largest = _one_for_each_group("max_momentum", optimizer, largest)
        if first:
            for group, low, high in zip(optimizer.param_groups, bases, largest):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return bases, largest

    def _set_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_CyclesMomentum):
    """Between base_lr and max_lr and back, with amplitudes by `mode` or scale_fn."""

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        bases = _one_for_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, bases):
                _set(group, "lr", lr)
        self.max_lrs = _one_for_each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(optimizer, base_momentum, max_momentum,
                                                                           last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def scale_fn(self, x):
        """The amplitude of cycle (or iteration) x."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x if self.mode == "exp_range" else 1.0

    def get_lr(self):
        self._warn_get_lr_called_within_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        amplitude = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                self._set_momentum(group, high - (high - low) * height * amplitude)
        return [base + (largest - base) * height * amplitude for base, largest in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        state = super().state_dict()
        scale = state.pop("_scale_fn_custom")
        is_object = scale is not None and not isinstance(scale, types.FunctionType)
        state["_scale_fn_custom"] = scale.__dict__.copy() if is_object else None
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class OneCycleLR(_CyclesMomentum):
    """One cycle over all steps: up to max_lr, and down far below where it began."""

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            if epochs <= 0 or not isinstance(epochs, int):
                raise ValueError(f"Expected positive integer epochs, but got {epochs}")
            if steps_per_epoch <= 0 or not isinstance(steps_per_epoch, int):
                raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")

        def phase(end, lr, momentum):
            return {"end_step": end, "start_lr": lr[0], "end_lr": lr[1], "start_momentum": momentum[0],
                    "end_momentum": momentum[1]}
        up, down = ("max_momentum", "base_momentum"), ("base_momentum", "max_momentum")
        peak = float(pct_start * self.total_steps) - 1
        if three_phase:
            self._schedule_phases = [phase(peak, ("initial_lr", "max_lr"), up),
                                     phase(float(2 * pct_start * self.total_steps) - 2, ("max_lr", "initial_lr"), down),
                                     phase(self.total_steps - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]
        else:
            self._schedule_phases = [phase(peak, ("initial_lr", "max_lr"), up),
                                     phase(self.total_steps - 1, ("max_lr", "min_lr"), down)]
        self._anneal_func_type = anneal_strategy
        largest = _one_for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, largest):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start, end, part):
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self):
        self._warn_get_lr_called_within_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                part = (step - start) / (end - start)
                break
            start = end
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                self._set_momentum(group, self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part))
        return rates


class _OfSchedulers(LRScheduler):
    """Schedules of one optimizer, whose state dicts are parts of this one's."""

    def _check(self, optimizer, schedulers):
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to "
                                 f"be specified when calling `step`, but got one at index {i} in the given schedulers "
                                 "sequence.")
            if scheduler.optimizer is not optimizer:
                raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                                 f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                                 f"{type(optimizer).__name__}.")

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        state = dict(state_dict)
        parts = state.pop("_schedulers")
        self.__dict__.update(state)
        for scheduler, part in zip(self._schedulers, parts):
            scheduler.load_state_dict(part)


class SequentialLR(_OfSchedulers):
    """One schedule after the other, the next from each milestone on."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                             f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones "
                             f"to be equal to {len(milestones)}")
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # The schedules have made their first steps, one after the other; only the first one's is to count.
        for group in optimizer.param_groups:
            _set(group, "lr", group["initial_lr"])
        for scheduler in schedulers:
            _take_back(scheduler)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        """Sets the rates of the next epoch."""
        self.last_epoch += 1
        i = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._start_again()
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _start_again(self):
        self.last_epoch = 0
        self._schedulers[0]._start_again()
        self._last_lr = self._schedulers[0].get_last_lr()


def _take_back(scheduler):
    if isinstance(scheduler, _OfSchedulers):
        for part in scheduler._schedulers:  # its own count stays, as in PyTorch: its milestones come a step early
            _take_back(part)
    else:
        scheduler.last_epoch -= 1


class ChainedScheduler(_OfSchedulers):
    """Several schedules at once: each changes what the one before has set."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = [_copied(group["lr"]) for group in optimizer.param_groups]

    def step(self):
        """Sets the rates of the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _start_again(self):
        for scheduler in self._schedulers:
            scheduler._start_again()
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a metric, which step() gets, has not become better for more than `patience` epochs."""

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0,
                 min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != len(optimizer.param_groups):
                raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * len(optimizer.param_groups)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = [_copied(group["lr"]) for group in optimizer.param_groups]
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self):
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        """Whether bad epochs are not counted now."""
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether `a` is better than `best` by the threshold."""
        if self.threshold_mode == "rel":
            return a < best * (1.0 - self.threshold) if self.mode == "min" else a > best * (self.threshold + 1.0)
        return a < best - self.threshold if self.mode == "min" else a > best + self.threshold

    def step(self, metrics, epoch=None):
        """Counts an epoch with this metric, and lowers the rates if it is time to."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def _reduce_lr(self):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                                   f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param "
                                   "group being added to the optimizer. Please modify the `min_lrs` field to match the length "
                                   "of the `optimizer` param groups.")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, smallest in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, smallest)
            if old - new > self.eps:
                _set(group, "lr", new)
