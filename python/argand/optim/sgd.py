"""Stochastic gradient descent."""
from .. import _C
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr
from ._tensor_step import decayed


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

    def _next(self, x, grad, state, group, step):
        grad, lr, momentum, after = decayed(grad, x, group["weight_decay"]), group["lr"], group["momentum"], {}
        if isinstance(momentum, _C.Tensor) or momentum:
            before = state.get("momentum_buffer")
            # A first momentum is the gradient's values: as in PyTorch, no derivative goes by it.
            buffer = grad.detach() if before is None else momentum * before + (1 - group["dampening"]) * grad
            after["momentum_buffer"] = buffer
            grad = grad + momentum * buffer if group["nesterov"] else buffer
        return x - lr * grad, after
