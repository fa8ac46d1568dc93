"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992)."""
from .. import _C
from ._native import check_at_least_0, check_form, check_lr
from ._tensor_step import TensorStepOptimizer, capturable, chosen, decayed


class ASGD(TensorStepOptimizer):
    """Stochastic gradient descent that averages the parameters in state["ax"]."""
    _shaped_as_parameter = _together = ("ax",)
    _numbers_of_state = ("eta", "mu")

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_lr(lr)
        check_at_least_0(weight_decay=weight_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _state_names(self, group):
        return ("eta", "mu", "ax")

    def _first_value(self, name, param, group):
        if name == "ax":
            return super()._first_value(name, param, group)
        device = param.device if capturable(group, param) else "cpu"
        first = _C.ones((), dtype=self._count_dtype(), device=device)
        return first.mul(group["lr"].reshape(()) if isinstance(group["lr"], _C.Tensor) else group["lr"]) if name == "eta" else first

    def _next(self, x, grad, state, group, step):
        lr, lambd, eta, mu = group["lr"], group["lambd"], state["eta"], state["mu"]
        grad = decayed(grad, x, group["weight_decay"])
        x = x * (1 - lambd * eta) - eta * grad
        after = {"eta": lr / (1 + lambd * lr * step) ** group["alpha"],
                 "mu": 1 / ((step - group["t0"]).clamp(min=1) if isinstance(step, _C.Tensor) else max(1, step - group["t0"])),
                 "ax": chosen(mu != 1, lambda: state["ax"] + (x - state["ax"]) * mu, x)}
        return x, after
