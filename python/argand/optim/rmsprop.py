"""RMSprop (Hinton's lecture)."""
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr
from ._tensor_step import decayed


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

    def _state_names(self, group):
        return ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * bool(group["centered"])

    def _next(self, x, grad, state, group, step):
        alpha = group["alpha"]
        grad = decayed(grad, x, group["weight_decay"])
        after = {"square_avg": alpha * state["square_avg"] + (1 - alpha) * grad * grad}
        variance = after["square_avg"]
        if group["centered"]:
            mean = after["grad_avg"] = alpha * state["grad_avg"] + (1 - alpha) * grad
            variance = variance - mean * mean
        change = grad / (variance.sqrt() + group["eps"])
        if group["momentum"] > 0:
            change = after["momentum_buffer"] = group["momentum"] * state["momentum_buffer"] + change
        return x - group["lr"] * change, after
