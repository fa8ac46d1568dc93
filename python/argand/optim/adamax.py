"""Adamax (Kingma and Ba, 2015)."""
from .. import _C
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr
from ._tensor_step import decayed


class Adamax(NativeOptimizer):
    """Adam with the infinity norm."""
    _rule_name = "Adamax"
    _tensors = ("exp_avg", "exp_inf")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check_lr(lr)
        check_at_least_0(eps=eps)
        check_betas(betas)
        check_at_least_0(weight_decay=weight_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable))

    def _next(self, x, grad, state, group, step):
        beta1, beta2 = group["betas"]
        grad = decayed(grad, x, group["weight_decay"])
        mean = beta1 * state["exp_avg"] + (1 - beta1) * grad
        largest = _C.maximum(beta2 * state["exp_inf"], grad.abs() + group["eps"])
        return x - group["lr"] / (1 - beta1**step) * (mean / largest), {"exp_avg": mean, "exp_inf": largest}
