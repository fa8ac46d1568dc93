"""Adadelta (Zeiler, 2012)."""
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr
from ._tensor_step import decayed


class Adadelta(NativeOptimizer):
    """Steps in the unit of the parameters, from decaying averages of squares of gradients and of steps."""
    _rule_name = "Adadelta"
    _tensors = ("square_avg", "acc_delta")

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_0(eps=eps, weight_decay=weight_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable, foreach=foreach,
            differentiable=differentiable))

    def _next(self, x, grad, state, group, step):
        rho, eps = group["rho"], group["eps"]
        grad = decayed(grad, x, group["weight_decay"])
        square = rho * state["square_avg"] + (1 - rho) * grad * grad
        change = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * grad
        return x - group["lr"] * change, {"square_avg": square, "acc_delta": rho * state["acc_delta"] + (1 - rho) * change * change}
