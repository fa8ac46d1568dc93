"""NAdam (Dozat, 2016)."""
from .. import _C
from ._native import NativeOptimizer, check_at_least_0, check_betas, check_form, check_lr
from ._tensor_step import adam_moments, capturable


class NAdam(NativeOptimizer):
    """Adam with Nesterov momentum that grows over the steps."""
    _rule_name = "NAdam"
    _tensors = ("exp_avg", "exp_avg_sq")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        check_lr(lr)
        check_at_least_0(eps=eps)
        check_betas(betas)
        check_at_least_0(weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_form(foreach, differentiable=differentiable)
        super().__init__(params, dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable))

    def _state_of(self, param):
        state = super()._state_of(param)
        if state is not None:
            # PyTorch's files have the product of the momenta so far; C++ makes it from the options and the step.
            group = next(g for g in self.param_groups if any(p is param for p in g["params"]))
            steps = _C.arange(1, int(state["step"]) + 1, dtype=_C.float64, device="cpu")
            momenta = float(group["betas"][0]) * (1 - 0.5 * 0.96 ** (steps * float(group["momentum_decay"])))
            state = {"step": state.pop("step"), "mu_product": momenta.prod().to(self._count_dtype()), **state}
        return state

    _numbers_of_state = ("mu_product",)

    def _state_names(self, group):
        return ("mu_product", *self._tensors)

    def _first_value(self, name, param, group):
        if name != "mu_product":
            return super()._first_value(name, param, group)
        return _C.ones((), dtype=self._count_dtype(), device=param.device if capturable(group, param) else "cpu")

    def _next(self, x, grad, state, group, step):
        (beta1, beta2), lr = group["betas"], group["lr"]
        x, grad, mean, square = adam_moments(x, grad, state, group)
        momentum, momentum_next = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = state["mu_product"] * momentum
        scale = (square / (1 - beta2**step)).sqrt() + group["eps"]
        x = (x - lr * (1 - momentum) / (1 - product) * (grad / scale)
             - lr * momentum_next / (1 - product * momentum_next) * (mean / scale))
        return x, {"mu_product": product, "exp_avg": mean, "exp_avg_sq": square}
