"""Schedules that go up and down, and the momentum with them."""
import functools
import math
import types

from ..optimizer import Optimizer
from .base import LRScheduler, _one_for_each_group, _set


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
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(optimizer, base_momentum, max_momentum,
                                                                           last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def _init_scale_fn(self):
        # PyTorch's names, which subclasses use.  No method of this object: it would hold itself.
        built_in = {"triangular": self._triangular_scale_fn, "triangular2": self._triangular2_scale_fn,
                    "exp_range": functools.partial(self._exp_range_scale_fn, self.gamma)}
        if self._scale_fn_custom is None:
            self._scale_fn_ref = built_in[self.mode]

    def scale_fn(self, x):
        """The amplitude of cycle (or iteration) x."""
        return (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)

    @staticmethod
    def _triangular_scale_fn(x):
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x):
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma, x):
        return gamma**x

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
        state.pop("_scale_fn_ref", None)
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
        self._init_scale_fn()


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
        if not hasattr(self, "_anneal_func_type"):
            return self.anneal_func(start, end, part)  # a state that PyTorch saved before 2.0
        return (self._annealing_cos if self._anneal_func_type == "cos" else self._annealing_linear)(start, end, part)

    @staticmethod
    def _annealing_cos(start, end, pct):
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start, end, pct):
        return (end - start) * pct + start

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
