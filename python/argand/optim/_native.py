"""Optimizers whose update rule is the library's (argand._C._Optimizer).

Parameter groups belong to Python: options that the rule reads are sent to C++ before a step if they changed.  The rule's
state belongs to C++: `state` shows it as PyTorch's dicts, and changes that a program makes there are sent before the next step.
"""
import collections.abc
import copy
import operator
import weakref

from .. import _C
from ..autograd.grad_mode import enable_grad
from ._tensor_step import TensorStepOptimizer, capturable


class ParamState(dict):
    """The state of one parameter; a change is noted, for the rule to learn of it."""
    __slots__ = ("_of",)

    def __init__(self, of, values=()):
        super().__init__(values)
        self._of = weakref.ref(of)  # which holds this

    def _note(self):
        of = self._of()
        if of is not None:
            of.note()

    def __reduce__(self):
        return dict, (dict(self),)

    def __deepcopy__(self, memo):
        return copy.deepcopy(dict(self), memo)


def _noting(name):
    change = getattr(dict, name)

    def method(self, *args, **kwargs):
        self._note()
        return change(self, *args, **kwargs)
    method.__name__ = name
    return method


for _name in ("__setitem__", "__delitem__", "__ior__", "update", "pop", "popitem", "setdefault", "clear"):
    setattr(ParamState, _name, _noting(_name))


class State(collections.abc.MutableMapping):
    """optimizer.state: {parameter: dict}, where a parameter without a state gets an empty one when it is asked for."""

    def __init__(self, optimizer):
        self._of = weakref.ref(optimizer)  # which holds this
        self._states = {}
        self.changed = False  # Python's states are newer than C++'s

    def note(self):
        """To be called before Python changes a state."""
        if not self.changed:
            self._pull_all()
            self.changed = True

    def replace(self, states):
        """These states instead of all there are."""
        self._states = {key: ParamState(self, value) if isinstance(value, dict) else value
                        for key, value in states.items()}
        self.changed = True

    def _pull(self, param):
        optimizer = self._of()
        values = None if self.changed or optimizer is None else optimizer._state_of(param)
        if values is None:
            return
        state = self._states.setdefault(param, ParamState(self))
        dict.update(state, values)

    def _pull_all(self):
        optimizer = self._of()
        for group in optimizer.param_groups if optimizer is not None else ():
            for p in group["params"]:
                self._pull(p)

    def __getitem__(self, param):
        self._pull(param)
        if param not in self._states:
            self._states[param] = ParamState(self)
        return self._states[param]

    def __setitem__(self, param, state):
        self.note()
        self._states[param] = ParamState(self, state) if isinstance(state, dict) else state

    def __delitem__(self, param):
        self.note()
        del self._states[param]

    def __contains__(self, param):
        self._pull(param)
        return param in self._states

    def __iter__(self):
        self._pull_all()
        return iter(list(self._states))

    def __len__(self):
        self._pull_all()
        return len(self._states)

    def __repr__(self):
        return repr(dict(self))


class NativeOptimizer(TensorStepOptimizer):
    """The base of optimizers that argand._C steps, except where tensor operations are asked for."""
    _rule_name = None  # C++'s name
    _tensors = ()      # of a parameter's state, by name
    _extra_keys = ()   # options that choose the rule

    def __init__(self, params, defaults):
        self._rule_made = None
        super().__init__(params, defaults)

    def _rule(self):
        return self._rule_name

    # ---- state

    @property
    def state(self):
        return self._state

    @state.setter
    def state(self, states):
        self._state = State(self)
        if states:
            self._state.replace(states)

    def _state_of(self, param):
        """What C++ remembers of a parameter, as PyTorch's dict; None if nothing."""
        found = self._made.state(param) if self._rule_made else None
        if found is None:
            return None
        count = found.pop("step")
        return {"step": _C.tensor(float(count), dtype=self._count_dtype(), device="cpu"), **found} if self._counts else found

    def _state_names(self, group):
        return self._together

    _optional = ("momentum_buffer", "max_exp_avg_sq", "grad_avg")  # of some options alone

    @property
    def _shaped_as_parameter(self):
        return self._tensors

    @property
    def _together(self):
        return [name for name in self._tensors if name not in self._optional]

    def _push_states(self):
        """Gives C++ the states that Python has."""
        flat = {key: value for key, value in self._made.state_dict(self._params).items() if key.startswith("param_groups.")}
        index = 0
        for group in self.param_groups:
            for p in group["params"]:
                state = self._state._states.get(p)
                tensors = {name: state[name] for name in self._tensors if state.get(name) is not None} if state else {}
                if tensors:
                    flat[f"state.{index}.step"] = _C.tensor(int(state.get("step", 0)), device="cpu")
                    for name, value in tensors.items():
                        flat[f"state.{index}.{name}"] = value.detach()
                index += 1
        self._made.load_state_dict(flat, self._params)
        self._state.changed = False

    def __getstate__(self):
        state = super().__getstate__()
        state["state"] = {key: dict(value) if isinstance(value, dict) else value for key, value in self.state.items()}
        return state

    def __setstate__(self, state):
        self._rule_made = None  # made anew before the next step
        super().__setstate__(state)
        self._state.changed = True

    # ---- steps

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        if self._rule_made and not self._state.changed:
            self._state._pull_all()
            self._state.changed = True
        self._rule_made = None

    def _in_tensor_operations(self):
        return self.defaults.get("differentiable") or any(
            group.get("capturable") and any(capturable(group, p) for p in group["params"]) for group in self.param_groups)

    def _make(self):
        """A C++ optimizer of the groups as they are, with the states there are."""
        for group in self.param_groups:
            if group.get("fused"):
                from ._for_others import _device_dtype_check_for_fused
                for p in group["params"]:
                    if p.grad is not None:  # others are not stepped
                        _device_dtype_check_for_fused(p)
        if self._rule_made:
            self._state.note()
        rule = self._rule()
        made = _C._make_optimizer(rule)
        self._params = [list(group["params"]) for group in self.param_groups]
        made.add_groups(self._params)
        self._made, self._rule_made = made, rule
        self._names = list(made.numbers(0))
        self._keys = [key for key in self.param_groups[0] if key in self._names or key == "betas"] + list(self._extra_keys)
        self._sent = [None] * len(self._params)  # the values of each group's keys
        self._on_cuda = any(p.is_cuda for group in self.param_groups for p in group["params"])
        if any(value is not None for value in self._state._states.values()):
            self._state.changed = True

    def _send(self):
        groups = self.param_groups
        if not self._rule_made or len(groups) != len(self._sent):
            self._make()
        for i, group in enumerate(groups):
            values, params, now = self._sent[i], self._params[i], group["params"]
            if len(now) != len(params) or not all(map(operator.is_, now, params)):
                self._make()
                return self._send()
            given = [group[key] for key in self._keys]
            if given != values:
                if self._rule() != self._rule_made:
                    self._make()
                    return self._send()
                numbers = dict(zip(self._keys, given))
                if "betas" in numbers:
                    numbers["beta1"], numbers["beta2"] = numbers.pop("betas")
                numbers = {key: float(value) for key, value in numbers.items() if key in self._names}
                self._made.set_numbers(i, numbers)
                # A tensor may change in place: such a group is sent before every step.
                fixed = not any(isinstance(v, _C.Tensor) for value in given
                                for v in (value if isinstance(value, (list, tuple)) else (value,)))
                self._sent[i] = given if fixed else None
        if self._state.changed:
            self._push_states()

    def step(self, closure=None):
        """Updates every parameter that has a gradient; `closure` computes the loss, which is returned, anew."""
        if self._in_tensor_operations():
            self._state.note()
            return super().step(closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._send()
        if self._counts and self._on_cuda and _C.cuda.is_current_stream_capturing():
            raise RuntimeError(f"Attempting CUDA graph capture of step(): {type(self).__name__}.step() counts its steps on the host, which a "
                               "CUDA graph would repeat as one step; capture the forward and backward pass alone, or use capturable=True"
                               + ("" if "capturable" in self.defaults else ", which Adam and others have"))
        self._made.step(self._params)
        return loss


# ---- what constructors check, in PyTorch's words


def check_lr(lr, foreach=None, capturable=False):
    """The learning rate: a number of at least 0, or a tensor of one."""
    if isinstance(lr, _C.Tensor):
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        lr = lr.item()
    if not 0.0 <= lr:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_at_least_0(**values):
    """Numbers that must not be negative."""
    for name, value in values.items():
        if not 0.0 <= value:
            raise ValueError(f"Invalid {'epsilon' if name == 'eps' else name} value: {value}")


def check_betas(betas):
    """Raises an error unless there are two betas, both in [0, 1)."""
    if len(betas) != 2:
        kind = IndexError if len(betas) < 2 else ValueError  # PyTorch's, which come with the first step where there are too many
        raise kind(f"betas must be two numbers, got {len(betas)}")
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_tensor_betas(betas, foreach, capturable):
    """Raises ValueError if one of the betas is a tensor and the other is not, or if a tensor has several elements."""
    tensors = [isinstance(beta, _C.Tensor) for beta in betas]
    if any(tensors) and not all(tensors):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas if all(tensors) else ()):
        if foreach and not capturable:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


def check_form(foreach=None, fused=None, differentiable=False):
    """The ways to run a step that PyTorch offers: `fused` and `foreach` mean the one that there is."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
