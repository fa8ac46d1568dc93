"""Adafactor (Shazeer and Stern, 2018)."""
from .. import _C
from .._dtype_limits import finfo
from ._native import check_form
from ._pointwise import PointwiseOptimizer
from .optimizer import check_shape


class Adafactor(PointwiseOptimizer):
    """Adaptive steps whose second moments, of matrices, are kept as a row and a column."""

    def _check_state(self, key, param, state):
        shape = tuple(param.shape)
        for name, expected in (("row_var", (*shape[:-1], 1)), ("col_var", (*shape[:-2], 1, *shape[-1:])), ("variance", shape)):
            if state.get(name) is not None:
                check_shape(key, name, state[name], expected)

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        check_form(foreach)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      foreach=foreach, maximize=maximize))

    def _update(self, p, grad, state, group):
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if not state:
            state["step"] = _C.tensor(0.0)
            if grad.dim() > 1:
                state["row_var"] = grad.new_zeros(grad.shape[:-1] + (1,))
                state["col_var"] = grad.new_zeros(grad.shape[:-2] + (1, grad.shape[-1]))
            else:
                state["variance"] = _C.zeros_like(grad)
        state["step"] += 1
        step, lr = float(state["step"]), float(group["lr"])
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = finfo(p.dtype).eps
        decay = step ** group["beta2_decay"]
        rho = min(lr, 1 / step**0.5)
        alpha = max(eps2, p.norm(2).item() / p.numel()**0.5) * rho
        if group["weight_decay"]:
            p.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(grad.square().mean(-1, keepdim=True), decay)
            column.lerp_(grad.square().mean(-2, keepdim=True), decay)
            variance = row @ column / row.mean(-2, keepdim=True).clamp_(min=eps1)
        else:
            variance = state["variance"].lerp_(grad.square(), decay)
        update = variance.clamp(min=eps1 * eps1).rsqrt_().mul_(grad)
        clip = max(1.0, update.norm(2).item() / (update.numel()**0.5 * group["d"]))
        p.add_(update, alpha=-alpha / clip)
