"""The base of optimizers: parameter groups, state, hooks, state dicts."""
import collections
import contextlib
import copy
import functools
import itertools
import warnings
from collections.abc import Iterable
from typing import Any, Dict, Optional, Union

from .. import _C, _surface
from .._hook_handles import add_hook as _add_hook

StateDict = dict[str, Any]
DeviceDict = Dict[Optional[_C.device], _C.Tensor]
DeviceDtypeDict = Dict[Optional["tuple[_C.device, _C.dtype]"], _C.Tensor]
ParamsT = Union[Iterable[_C.Tensor], Iterable[dict[str, Any]], Iterable[tuple[str, _C.Tensor]]]

_before_any_step = collections.OrderedDict()
_after_any_step = collections.OrderedDict()


class _Required:
    """Stands for an option without a default: a parameter group must give it."""

    def __repr__(self):
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook):
    """Calls hook(optimizer, args, kwargs) before every step of every optimizer."""
    return _add_hook(_before_any_step, hook)


def register_optimizer_step_post_hook(hook):
    """Calls hook(optimizer, args, kwargs) after every step of every optimizer."""
    return _add_hook(_after_any_step, hook)


def _named(optimizer, what):
    """A range of the profiler that is active."""
    from ..autograd.profiler import record_function
    return record_function(f"Optimizer.{what}#{type(optimizer).__name__}.{what}")


def _with_hooks(step):
    @functools.wraps(step)
    def call(*args, **kwargs):
        if _C._profiler_is_active():
            with _named(args[0], "step"):
                return hooked_step(*args, **kwargs)
        return hooked_step(*args, **kwargs)

    def hooked_step(*args, **kwargs):
        self = args[0]
        if not (self._optimizer_step_pre_hooks or self._optimizer_step_post_hooks or _before_any_step or _after_any_step):
            return step(*args, **kwargs)
        for hook in (*_before_any_step.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_after_any_step.values()):
            hook(self, args, kwargs)
        return result
    call.hooked = True
    return call


class Optimizer:
    """Updates parameters by a rule that a subclass writes as step().

    params: tensors, (name, tensor) pairs, or dicts that are parameter groups: {"params": tensors, option: value, ...}.
    defaults: the options of groups that do not give them.
    """

    def __init__(self, params, defaults):
        self.defaults = defaults
        self._make_hooks()
        if isinstance(params, _C.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + params.type())
        self.state = collections.defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hooks(self):
        for name in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
                     "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
                     "_optimizer_load_state_dict_post_hooks"):
            if name not in self.__dict__:
                self.__dict__[name] = collections.OrderedDict()
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = _with_hooks(kind.step)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        for name, value in state.items():
            setattr(self, name, value)
        self._make_hooks()

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    # ---- groups

    def add_param_group(self, param_group):
        """Adds a dict with "params" and options of their own, for layers that begin to train later."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, _C.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors "
                            "in sets will change between runs. Please use a list instead.")
        params = list(params)
        if any(isinstance(p, tuple) for p in params):
            if not all(isinstance(p, tuple) for p in params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        param_group["params"] = params
        for p in params:
            if not isinstance(p, _C.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not (p.is_leaf or p.retains_grad or self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(set(params)) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                          "error; see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        known = {p for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{'with' if 'param_names' in param_group else 'without'} names to the optimizer")
        self.param_groups.append(param_group)

    # ---- steps

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
        """Lists of tensors cut by device and dtype of those in the first: {(device, dtype): (lists, their places if asked for)}."""
        places = {}
        for i, tensor in enumerate(tensorlistlist[0]):
            places.setdefault((tensor.device, tensor.dtype), []).append(i)
        return {key: ([[values[i] for i in found] if values else [] for values in tensorlistlist], found if with_indices else [])
                for key, found in places.items()}

    def zero_grad(self, set_to_none=True):
        """Forgets the gradients of all parameters, or fills them with zeros."""
        with _named(self, "zero_grad") if _C._profiler_is_active() else contextlib.nullcontext():
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.detach_().zero_()

    def step(self, closure=None):
        """Updates the parameters; `closure` computes the loss, and gradients, anew."""
        raise NotImplementedError

    def register_step_pre_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) before step(); it may return other (args, kwargs)."""
        return _add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) after step()."""
        return _add_hook(self._optimizer_step_post_hooks, hook)

    # ---- state dicts

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls hook(optimizer) before state_dict()."""
        return _add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls hook(optimizer, state_dict) after state_dict(); it may return another."""
        return _add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls hook(optimizer, state_dict) before load_state_dict(); it may return another."""
        return _add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls hook(optimizer) after load_state_dict()."""
        return _add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self):
        """{"state": {index of a parameter: its state}, "param_groups": [options, with "params" as indices]}."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(p, len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        # Plain dicts, which files of torch.save may hold.
        state = {numbers[key] if isinstance(key, _C.Tensor) else key: dict(value) if isinstance(value, dict) else value
                 for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    _shaped_as_parameter = ()  # tensors of a state, by name
    _together = ()  # those that a state has all of, or none

    def _check_state(self, key, param, state):
        """ValueError for a saved state of a parameter that a step could not use, or would use wrongly."""
        for name in self._shaped_as_parameter:
            if state.get(name) is not None:
                check_shape(key, name, state[name], param.shape)
        given = [name for name in self._together if state.get(name) is not None]
        missing = [name for name in self._together if name not in given]
        if given and missing:
            raise ValueError(f"load_state_dict: the state of parameter {key} has {given}, and lacks {missing}")

    def _check_options(self, group):
        """The same for a saved group."""
        for name, default in self.defaults.items():
            if type(default) in (int, float) and name in group:
                try:
                    float(group[name])
                except (TypeError, ValueError, RuntimeError):
                    raise ValueError(f"load_state_dict: expected a number for {name}, got {group[name]!r:.80}") from None

    def load_state_dict(self, state_dict):
        """Takes over options and state that state_dict() returned, here or in PyTorch, for parameters in the same order."""
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        groups, saved = self.param_groups, copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(g["params"]) != len(s["params"]) for g, s in zip(groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = dict(zip(itertools.chain.from_iterable(s["params"] for s in saved),
                          itertools.chain.from_iterable(g["params"] for g in groups)))
        _check_saved(saved, state_dict["state"], params)
        for key, value in state_dict["state"].items():
            if key in params and isinstance(value, dict):
                self._check_state(key, params[key], value)
        for group in saved:
            self._check_options(group)
        state = collections.defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _placed_like(params[key], value)
            else:
                state[key] = value
        for group, new in zip(groups, saved):
            new["params"] = group["params"]
            if "param_names" in group and "param_names" not in new:
                new["param_names"] = group["param_names"]
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)


def check_shape(key, name, value, shape):
    """ValueError if a tensor of a saved state has not this shape."""
    if not isinstance(value, _C.Tensor):
        raise ValueError(f"load_state_dict: {name} of parameter {key}: expected a tensor, got a {type(value).__name__}")
    if tuple(value.shape) != tuple(shape):
        raise ValueError(f"load_state_dict: {name} of parameter {key}: expected shape {tuple(shape)}, got {tuple(value.shape)}")


def _check_saved(groups, states, params):
    """What a damaged file may hold and a step could not use: an error before anything is changed."""
    count = sum(len(g["params"]) for g in groups)
    if count != len(params):
        raise ValueError(f"load_state_dict: the groups name {len(params)} different parameters; expected {count}")
    for key, state in states.items():
        if isinstance(key, int) and key not in params:
            raise ValueError(f"load_state_dict: state of parameter {key}, which is in no group")
        step = state.get("step") if isinstance(state, dict) else None
        if isinstance(step, _C.Tensor):
            if step.numel() != 1:
                raise ValueError(f"load_state_dict: step of parameter {key}: expected one number, got shape {tuple(step.shape)}")
            step = step.item()
        if isinstance(step, (int, float)) and not 0 <= step < 2**63:  # NaN is neither
            raise ValueError(f"load_state_dict: step of parameter {key}: expected a number of steps, got {step}")


def _placed_like(param, value, key=None):
    """A value of a saved state with its tensors on the parameter's device, and of its dtype; counters stay as they are."""
    if isinstance(value, _C.Tensor):
        if key == "step":
            return value
        return value.to(param.device, param.dtype if param.is_floating_point() else value.dtype)
    if isinstance(value, dict):
        return {k: _placed_like(param, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(_placed_like(param, v) for v in value)
    return value


__getattr__, __dir__ = _surface.of(__name__)
