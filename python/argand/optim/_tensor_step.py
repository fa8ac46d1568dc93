"""Update rules in tensor operations: what autograd records (differentiable=True), and what a CUDA graph may hold (capturable=True).

A rule is a function of what there is before a step.  It writes nothing in place, so that autograd may keep whatever it reads;
the new values are copied to where the old ones are at the end.
"""
from .. import _C
from ..autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from .optimizer import Optimizer


def decayed(grad, x, weight_decay):
    """The gradient with an L2 penalty."""
    return grad + x * weight_decay if isinstance(weight_decay, _C.Tensor) or weight_decay else grad


def chosen(condition, a, b):
    """a() where the condition holds, a bool or a tensor of one, and b elsewhere."""
    return _C.where(condition, a(), b) if isinstance(condition, _C.Tensor) else a() if condition else b


def _as_real(tensor):
    """The tensor, or the real and imaginary parts of a complex one: an optimizer takes them as two numbers."""
    return _C.view_as_real(tensor) if tensor.is_complex() else tensor


def capturable(group, param):
    """Whether this parameter is stepped without a look at the host's numbers: PyTorch's option for parameters on a GPU."""
    return bool(group.get("capturable")) and param.is_cuda


class TensorStepOptimizer(Optimizer):
    """A subclass writes its rule as _next()."""
    _counts = True          # "step" is part of the state
    _numbers_of_state = ()  # of the state, by name: those that are one number whatever the parameter's shape

    def _state_names(self, group):
        """The tensors of a state that are there before the first step."""
        raise NotImplementedError

    def _first_value(self, name, param, group):
        """What such a tensor is then."""
        return _C.zeros_like(param, memory_format=_C.preserve_format)

    def _next(self, x, grad, state, group, step):
        """(the parameter, {name: tensor of the state}) after this step, the first of which is 1.

        Complex tensors come as real ones.  Numbers of the group are Python's, or tensors that gradients go to or that a GPU reads.
        """
        raise NotImplementedError

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for key, value in self.defaults.items():
                group.setdefault(key, value)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; `closure` computes the loss, which is returned, anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        recorded = bool(self.defaults.get("differentiable"))
        with set_grad_enabled(recorded):
            steps = [_Step(self, p, group, recorded) for group in self.param_groups for p in group["params"] if p.grad is not None]
            # On a GPU each parameter has twice its memory only for a moment.  All others change, or none.
            for step in (step for step in steps if step.on_gpu):
                step.compute()
                step.write()
            rest = [step for step in steps if not step.on_gpu]
            for step in rest:
                step.compute()
            for step in rest:
                step.write()
        return loss

    @staticmethod
    def _count_dtype():
        return _C.float64 if _C.get_default_dtype() is _C.float64 else _C.float32


class _Step:
    """A step of one parameter."""

    def __init__(self, optimizer, param, group, recorded):
        self.optimizer, self.param, self.group, self.recorded = optimizer, param, group, recorded
        self.on_gpu = capturable(group, param)
        self.state = optimizer.state[param] if param in optimizer.state else {}
        self.names = ["step"] * optimizer._counts + list(optimizer._state_names(group))
        if recorded and getattr(self.state.get("step"), "requires_grad", False):
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        if param.is_cuda and _C.cuda.is_current_stream_capturing():
            self._check_capture()
        self.values = self._values()

    def _check_capture(self):
        name = type(self.optimizer).__name__
        if not self.on_gpu:
            raise RuntimeError(f"{name}.step() counts its steps on the host, which a CUDA graph would repeat as one step; give all "
                               "parameter groups capturable=True")
        if any(self.state.get(key) is None for key in self.names):
            raise RuntimeError(f"{name}.step(): a parameter has no state yet, which every replay of the graph would make anew; "
                               "take a step before the capture")

    def _values(self):
        """The tensors of the state, with those that it lacks."""
        values = {name: value for name, value in self.state.items() if isinstance(value, _C.Tensor)}
        count = self.optimizer._count_dtype()
        for name in self.names:
            held = self.state.get(name)
            if held is None:
                values[name] = (_C.zeros((), dtype=count, device="cpu") if name == "step"
                                else self.optimizer._first_value(name, self.param, self.group))
            elif name not in values:  # a number, in files of old
                values[name] = _C.tensor(float(held), dtype=count, device="cpu")
            if self.on_gpu:
                values[name] = values[name].to(self.param.device)
        return values

    def compute(self):
        """The values after the step."""
        x, grad = self.param, -self.param.grad if self.group.get("maximize") else self.param.grad
        before = {name: value for name, value in self.values.items() if name != "step"}
        if self.recorded:  # what backward reads is not what the step writes
            x, before = x.clone(), {name: value.clone() for name, value in before.items()}
        before = {name: self._number(value) if name in self.optimizer._numbers_of_state else _as_real(value)
                  for name, value in before.items()}
        group = {key: tuple(map(self._number, value)) if isinstance(value, (tuple, list)) else self._number(value)
                 for key, value in self.group.items() if key != "params"}
        count = self.values.get("step")
        # 1 - beta^count loses most of its digits in float32 while the count is small.
        step = None if count is None else (count.double() if self.on_gpu else float(count)) + 1
        self.x, self.after = self.optimizer._next(_as_real(x), _as_real(grad), before, group, step)

    def _number(self, value):
        """A tensor that gradients go to, or of the GPU, as it is, whatever it holds at replay; any other as its number now."""
        if not isinstance(value, _C.Tensor):
            return value
        kept = self.recorded and value.requires_grad or self.on_gpu and value.device == self.param.device
        return value.reshape(()) if kept else float(value)

    def write(self):
        """Puts them where they belong."""
        self.param.copy_(_stored(self.x, self.param))
        for name, value in self.after.items():
            held = self.values.get(name)
            if held is None:
                self.values[name] = _stored(value, self.param).clone()
            elif isinstance(value, _C.Tensor):
                held.copy_(_stored(value, held))
            else:
                held.fill_(value)
        if "step" in self.values:
            with no_grad():
                self.values["step"] += 1
        state = self.optimizer.state[self.param]
        for name, value in self.values.items():
            if state.get(name) is not value:
                state[name] = value


def _stored(value, like):
    """The reverse of _as_real() for what was as `like`."""
    return _C.view_as_complex(value.contiguous()) if like.is_complex() else value
