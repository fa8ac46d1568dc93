"""RMSprop (Hinton's lecture)."""
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr


class RMSprop(NativeOptimizer):
    """RMSprop, plain or centered (Graves, 2013), with momentum."""
    _rule_name = "RMSprop"
    _tensors = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        check_lr(lr)
        check_at_least_0(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable))
