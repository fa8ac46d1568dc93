"""Ops that PyTorch composes from others and that are one op here: dispatch modes are offered those others instead."""
from . import _C


def _linear(input, weight, bias=None):
    if input.dim() == 2 and bias is not None:
        return _C.addmm(bias, input, _C.t(weight))
    return _C.matmul(input, _C.t(weight)) if bias is None else _C.add(_C.matmul(input, _C.t(weight)), bias)


def _l1_loss(self, target, reduction=1):
    loss = _C.abs(_C.sub(self, target))
    return (loss, _C.mean(loss), _C.sum(loss))[reduction] if reduction else loss


def _linear_weight_grad(grad_output, input, bias):
    """The gradients of a layer's weight and bias."""
    g = grad_output if grad_output.dim() == 2 else grad_output.reshape(-1, grad_output.size(-1))
    x = input if input.dim() == 2 else input.reshape(-1, input.size(-1))
    weight = _C.mm(_C.t(g), x)
    return weight, _C.sum(g, [0], True).view(g.size(1)) if bias else None


_MADE = {"argand._linear_weight_grad.default": _linear_weight_grad,
         "aten.linear.default": _linear, "aten.l1_loss.default": _l1_loss}


def decomposition(op):
    """A function that makes a call of the op of calls of others; None: it is an op of PyTorch's, too."""
    return _MADE.get(str(op))
