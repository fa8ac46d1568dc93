"""Adadelta (Zeiler, 2012)."""
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr


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
