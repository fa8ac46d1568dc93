"""Adagrad (Duchi, Hazan and Singer, 2011)."""
from .. import _C
from ._native import NativeOptimizer, check_at_least_0, check_form, check_lr
from ._tensor_step import decayed


class Adagrad(NativeOptimizer):
    """Steps that become smaller with the sum of squared gradients; the state is there from the start."""
    _rule_name = "Adagrad"
    _tensors = ("sum",)

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        check_lr(lr)
        check_at_least_0(lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
                         eps=eps)
        check_form(foreach, fused, differentiable)
        super().__init__(params, dict(
            lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
            differentiable=differentiable, fused=fused))
        for group in self.param_groups:
            for p in group["params"]:
                if p.is_meta:
                    continue  # until it has memory
                self.state[p] = {
                    "step": _C.tensor(0.0, dtype=self._count_dtype()),
                    "sum": self._first_value("sum", p, group)}

    def share_memory(self):
        """Moves what is remembered of gradients to memory that other processes see, too."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _first_value(self, name, param, group):
        first = group["initial_accumulator_value"]
        return _C.full_like(param, complex(first, first) if param.is_complex() else first).requires_grad_(False)

    def _next(self, x, grad, state, group, step):
        grad = decayed(grad, x, group["weight_decay"])
        total = state["sum"] + grad * grad
        return x - group["lr"] / (1 + (step - 1) * group["lr_decay"]) * (grad / (total.sqrt() + group["eps"])), {"sum": total}
