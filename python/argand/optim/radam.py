"""RAdam (Liu and others, 2020)."""
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr


class RAdam(NativeOptimizer):
    """Adam whose adaptive rate is rectified while its variance is large."""
    _rule_name = "RAdam"
    _tensors = ("exp_avg", "exp_avg_sq")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_lr(lr)
        check_at_least_0(eps=eps)
        check_betas(betas)
        check_at_least_0(weight_decay=weight_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable))
