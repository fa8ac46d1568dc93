"""Resilient backpropagation (Riedmiller and Braun, 1993)."""
from .. import _C
from ._native import check_form, check_lr
from ._pointwise import PointwiseOptimizer


class Rprop(PointwiseOptimizer):
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

    def _update(self, p, grad, state, group):
        if not state:
            state["step"] = _C.tensor(0.0)
            state["prev"] = _C.zeros_like(p)
            state["step_size"] = _C.full_like(grad, float(group["lr"]))
        state["step"] += 1
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        turn = (grad * state["prev"]).sign()
        factor = _C.where(turn > 0, grow, _C.where(turn < 0, shrink, 1.0)).to(p.dtype)
        state["step_size"].mul_(factor).clamp_(smallest, largest)
        grad = grad.masked_fill(turn < 0, 0)  # where the sign has turned there is no step, and no turn the next time
        p.sub_(grad.sign() * state["step_size"])
        state["prev"].copy_(grad)
