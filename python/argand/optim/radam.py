"""RAdam (Liu and others, 2020)."""
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr
from ._tensor_step import adam_moments, chosen


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

    def _next(self, x, grad, state, group, step):
        (beta1, beta2), lr = group["betas"], group["lr"]
        x, grad, mean, square = adam_moments(x, grad, state, group)
        # The length of the variance's average, as if it were a simple one: from 5 on the rate adapts.
        correction = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        rectified = length > 5
        rectification = chosen(rectified, lambda: (length - 4) * (length - 2) * longest
                               / ((longest - 4) * (longest - 2) * length) * correction, 1.0)
        rate = chosen(rectified, lambda: rectification**0.5 / (square.sqrt() + group["eps"]), 1.0)
        return x - lr / (1 - beta1**step) * (mean * rate), {"exp_avg": mean, "exp_avg_sq": square}
