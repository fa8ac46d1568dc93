"""Update rules in tensor operations, which autograd can record (differentiable=True) and a CUDA graph can capture (capturable=True).

A rule is a function of the values before a step.  It writes nothing in place, so that autograd may keep whatever it reads;
at the end the new values are copied over the old ones.
"""
from .. import _C
from ..autograd.grad_mode import set_grad_enabled
from ._pointwise import OptimizerInPython


def decayed(grad, x, weight_decay):
    """The gradient with an L2 penalty."""
    return grad + x * weight_decay if isinstance(weight_decay, _C.Tensor) or weight_decay else grad


def adam_moments(x, grad, state, group):
    """For Adam and its variants: (parameter and gradient after weight decay, new averages of the gradient and of its square)."""
    (beta1, beta2), decay = group["betas"], group["weight_decay"]
    if group["decoupled_weight_decay"]:
        x = x * (1 - group["lr"] * decay)
    else:
        grad = decayed(grad, x, decay)
    return x, grad, beta1 * state["exp_avg"] + (1 - beta1) * grad, beta2 * state["exp_avg_sq"] + (1 - beta2) * grad * grad


def chosen(condition, a, b):
    """a() where the condition holds, a bool or a tensor of one, and b elsewhere."""
    return _C.where(condition, a(), b) if isinstance(condition, _C.Tensor) else a() if condition else b


def _as_real(tensor):
    """The tensor, or the real and imaginary parts of a complex one: an optimizer takes them as two numbers."""
    return _C.view_as_real(tensor) if tensor.is_complex() else tensor


def capturable(group, param):
    """Whether this parameter is stepped without a look at the host's numbers: PyTorch's option for parameters on a GPU."""
    return bool(group.get("capturable")) and param.is_cuda


class TensorStepOptimizer(OptimizerInPython):
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

    def _update_all(self):
        recorded = bool(self.defaults.get("differentiable"))
        with set_grad_enabled(recorded):
            steps = [step for group in self.param_groups for step in _steps(self, group, recorded)]
            # On a GPU each parameter has twice its memory only for a moment.  All others change, or none.
            for step in (step for step in steps if step.on_gpu):
                step.compute()
                step.write()
            rest = [step for step in steps if not step.on_gpu]
            for step in rest:
                step.compute()
            for step in rest:
                step.write()

    @staticmethod
    def _count_dtype():
        return _C.float64 if _C.get_default_dtype() is _C.float64 else _C.float32


def _steps(optimizer, group, recorded):
    """A step of each parameter of a group that has a gradient."""
    names = ["step"] * optimizer._counts + list(optimizer._state_names(group))
    options = {}  # the group's, for the host and for each GPU
    for param in group["params"]:
        if param.grad is None:
            continue
        numbers_on = param.device if capturable(group, param) else None
        if numbers_on not in options:
            options[numbers_on] = {key: _number_of_group(value, recorded, numbers_on) for key, value in group.items() if key != "params"}
        yield _Step(optimizer, param, group, options[numbers_on], names, recorded, numbers_on)


def _number_of_group(value, recorded, device):
    return tuple(_number(v, recorded, device) for v in value) if isinstance(value, (tuple, list)) else _number(value, recorded, device)


def _number(value, recorded, device):
    """A tensor that gradients go to, or of the GPU, as it is, whatever it holds at replay; any other as its number now."""
    if not isinstance(value, _C.Tensor):
        return value
    return value.reshape(()) if recorded and value.requires_grad or value.device == device else float(value)


class _Step:
    """A step of one parameter."""

    def __init__(self, optimizer, param, group, options, names, recorded, numbers_on):
        self.optimizer, self.param, self.group, self.options, self.names = optimizer, param, group, options, names
        self.recorded, self.numbers_on, self.on_gpu = recorded, numbers_on, numbers_on is not None
        self.state = optimizer.state[param] if param in optimizer.state else {}
        if recorded:
            self._check_recorded()
        if param.is_cuda and _C.cuda.is_current_stream_capturing():
            self._check_capture()
        self.values = self._values()

    def _check_recorded(self):
        if getattr(self.state.get("step"), "requires_grad", False):
            raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
        if self.param.is_leaf and self.param.requires_grad:
            raise RuntimeError(f"{type(self.optimizer).__name__}.step() with differentiable=True: a leaf Variable that requires grad is "
                               "being used in an in-place operation.")

    def _check_capture(self):
        name = type(self.optimizer).__name__
        if not self.on_gpu:
            raise RuntimeError(f"Attempting CUDA graph capture of step(): {name}.step() counts its steps on the host, which a CUDA graph "
                               "would repeat as one step; give all parameter groups capturable=True")
        if any(self.state.get(key) is None for key in self.names):
            raise RuntimeError(f"{name}.step(): a parameter has no state yet, which every replay of the graph would make anew; "
                               "take a step before the capture")

    def _values(self):
        """The tensors of the state, with those that it lacks."""
        values = {name: value for name, value in self.state.items() if isinstance(value, _C.Tensor)}
        for name in self.names:
            if name not in values:
                values[name] = self._value(name, self.state.get(name))
            if self.on_gpu:
                values[name] = values[name].to(self.param.device)
        return values

    def _value(self, name, number):
        """A tensor of the state that is none, or a number in files of old."""
        if number is None and name != "step":
            return self.optimizer._first_value(name, self.param, self.group)
        return _C.tensor(float(number or 0), dtype=self.optimizer._count_dtype(), device="cpu")

    def compute(self):
        """The values after the step."""
        param, grad = self.param, self.param.grad
        before, x = {name: value for name, value in self.values.items() if name != "step"}, param
        if self.options.get("maximize"):
            grad = -grad
        if self.recorded:  # what backward reads is not what the step writes
            x, before = x.clone(), {name: value.clone() for name, value in before.items()}
        if param.is_complex():
            x, grad, before = _as_real(x), _as_real(grad), {name: _as_real(value) for name, value in before.items()}
        shapes = {name: value.shape for name, value in before.items()}
        for name in self.optimizer._numbers_of_state:
            before[name] = _number(before[name], self.recorded, self.numbers_on)
        count = self.values.get("step")
        # 1 - beta^count loses most of its digits in float32 while the count is small.
        step = None if count is None else (count.double() if self.on_gpu else float(count)) + 1
        self.x, self.after = self.optimizer._next(x, grad, before, self.options, step)
        for name, value in (("the parameter", self.x), *self.after.items()):
            expected = x.shape if name == "the parameter" else shapes.get(name)
            if isinstance(value, _C.Tensor) and expected is not None and value.shape != expected:
                raise RuntimeError(f"{type(self.optimizer).__name__}.step(): expected {name} of shape {tuple(expected)} after the step, "
                                   f"got {tuple(value.shape)}; its gradient or state has another shape")

    def write(self):
        """Puts them where they belong."""
        stored = _stored if self.param.is_complex() else _unchanged
        self.param.copy_(stored(self.x, self.param))
        for name, value in self.after.items():
            held = self.values.get(name)
            if held is None:
                self.values[name] = stored(value, self.param).clone()
            elif isinstance(value, _C.Tensor):
                held.copy_(stored(value, held))
            else:
                held.fill_(value)
        count = self.values.get("step")
        if count is not None:
            count += 1
        if self.state.keys() != self.values.keys() or any(self.state[name] is not value for name, value in self.values.items()):
            self.optimizer.state[self.param].update(self.values)


def _unchanged(value, like):
    return value


def _stored(value, like):
    """The reverse of _as_real() for what was as `like`."""
    return _C.view_as_complex(value.contiguous()) if like.is_complex() else value
