"""Stochastic gradient descent."""
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr


class SGD(NativeOptimizer):
    """Stochastic gradient descent, with momentum (Nesterov's, if asked for) and weight decay."""
    _rule_name = "SGD"
    _tensors = ("momentum_buffer",)
    _counts = False

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        check_lr(lr)
        check_at_least_0(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_form(foreach, fused, differentiable)
        super().__init__(params, dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize,
            foreach=foreach, differentiable=differentiable, fused=fused))
