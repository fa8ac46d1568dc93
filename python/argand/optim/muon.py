"""Muon (Jordan et al., 2024): momentum whose matrices are made nearly orthogonal before they are added."""
import math

from .. import _C
from ._pointwise import PointwiseOptimizer

_SCALES = {None: lambda rows, columns: math.sqrt(max(1, rows / columns)),
           "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
           "spectral_unclamped": lambda rows, columns: math.sqrt(rows / columns)}
_SCALES["original"] = _SCALES[None]


def _orthogonalized(matrix, coefficients, steps, eps):
    """A matrix with about the same singular vectors and singular values near 1: steps of Newton and Schulz, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = _C.addmm(x, _C.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


class Muon(PointwiseOptimizer):
    """Muon, for matrices; other parameters need another optimizer.

    adjust_lr_fn: how lr depends on the shape: "original", "match_rms_adamw" (updates as large as AdamW's) or
    "spectral_unclamped".
    """
    _shaped_as_parameter = _together = ("momentum_buffer",)

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
                 eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in _SCALES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn))

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.dim() != 2:
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _update(self, p, grad, state, group):
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        if not state:
            state["momentum_buffer"] = _C.zeros_like(grad)
        lr, momentum = float(group["lr"]), group["momentum"]
        buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(update.to(p.dtype), alpha=-lr * _SCALES[group["adjust_lr_fn"]](*p.shape))
