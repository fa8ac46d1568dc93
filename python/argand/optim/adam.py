"""Adam (Kingma and Ba, 2015)."""
from . import _capturable
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr


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
        check_form(foreach, fused, differentiable)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable, fused=fused, decoupled_weight_decay=decoupled_weight_decay))

    def step(self, closure=None):
        """Updates every parameter that has a gradient; with capturable=True, parameters on a GPU in ops that a CUDA graph may hold."""
        return _capturable.step(self, closure) if _capturable.asked(self) else super().step(closure)

    def _rule(self):
        decoupled = {bool(group["decoupled_weight_decay"]) for group in self.param_groups}
        if len(decoupled) > 1:
            raise NotImplementedError("Adam: decoupled_weight_decay must be the same in all parameter groups; use an Adam and "
                                      "an AdamW")
        return "AdamW" if True in decoupled else "Adam"
