"""Adam (Kingma and Ba, 2015)."""
from .. import _C
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr, check_tensor_betas
from ._tensor_step import adam_moments


class Adam(NativeOptimizer):
    """Adam, or AMSGrad; with `decoupled_weight_decay` it is AdamW."""
    _tensors = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    _extra_keys = ("decoupled_weight_decay",)

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        check_lr(lr, foreach, capturable)
        check_at_least_0(eps=eps)
        check_betas(betas)
        check_at_least_0(weight_decay=weight_decay)
        check_tensor_betas(betas, foreach, capturable)
        check_form(foreach, fused, differentiable)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=decoupled_weight_decay))

    def _state_names(self, group):
        return self._tensors if group["amsgrad"] else self._together

    def _next(self, x, grad, state, group, step):
        (beta1, beta2), lr = group["betas"], group["lr"]
        x, grad, mean, square = adam_moments(x, grad, state, group)
        after, largest = {"exp_avg": mean, "exp_avg_sq": square}, square
        if group["amsgrad"]:
            after["max_exp_avg_sq"] = largest = _C.maximum(state["max_exp_avg_sq"], square)
        return x - lr / (1 - beta1**step) * (mean / ((largest / (1 - beta2**step)).sqrt() + group["eps"])), after

    def _rule(self):
        decoupled = {bool(group["decoupled_weight_decay"]) for group in self.param_groups}
        if len(decoupled) > 1:
            raise NotImplementedError("Adam: decoupled_weight_decay must be the same in all parameter groups; use an Adam and "
                                      "an AdamW")
        return "AdamW" if True in decoupled else "Adam"
