"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""
from .. import _C
from ._native import check_at_least_0, check_form, check_lr
from ._pointwise import PointwiseOptimizer


class ASGD(PointwiseOptimizer):
    """Stochastic gradient descent that averages the parameters in state["ax"]."""
    _shaped_as_parameter = _together = ("ax",)

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_lr(lr)
        check_at_least_0(weight_decay=weight_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _update(self, p, grad, state, group):
        if not state:
            state["step"] = _C.tensor(0.0)
            state["eta"] = _C.tensor(float(group["lr"]))
            state["mu"] = _C.tensor(1.0)
            state["ax"] = _C.zeros_like(p)
        state["step"] += 1
        step, lr, lambd = float(state["step"]), float(group["lr"]), group["lambd"]
        eta, mu = float(state["eta"]), float(state["mu"])
        if group["weight_decay"]:
            grad = grad.add(p, alpha=group["weight_decay"])
        p.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
        if mu == 1:
            state["ax"].copy_(p)
        else:
            state["ax"].add_((p - state["ax"]) * mu)
        state["eta"].fill_(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
