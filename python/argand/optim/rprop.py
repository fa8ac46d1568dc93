"""Resilient backpropagation (Riedmiller and Braun, 1993)."""
from .. import _C
from ._native import check_form, check_lr
from ._tensor_step import TensorStepOptimizer


class Rprop(TensorStepOptimizer):
    """Steps by the sign of the gradient, whose size grows while the sign stays and shrinks when it turns."""
    _shaped_as_parameter = _together = ("prev", "step_size")

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize, differentiable=differentiable,
            capturable=capturable))

    def _state_names(self, group):
        return self._together

    def _first_value(self, name, param, group):
        zeros = super()._first_value(name, param, group)
        if name == "prev":
            return zeros
        lr = group["lr"].reshape(()) if isinstance(group["lr"], _C.Tensor) else group["lr"]
        return zeros + lr * (1 + 1j if param.is_complex() else 1)

    def _next(self, x, grad, state, group, step):
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        turn, size = (grad * state["prev"]).sign(), state["step_size"]
        size = _C.where(turn > 0, size * grow, _C.where(turn < 0, size * shrink, size)).clamp(smallest, largest)
        grad = grad.masked_fill(turn < 0, 0)  # where the sign has turned there is no step, and no turn the next time
        return x - grad.sign() * size, {"prev": grad, "step_size": size}
