"""Ops that PyTorch makes of others and that are one op here: to modes they are offered as those others."""
from . import _C


def _linear(input, weight, bias=None):
    if input.dim() == 2 and bias is not None:
        return _C.addmm(bias, input, _C.t(weight))
    return _C.matmul(input, _C.t(weight)) if bias is None else _C.add(_C.matmul(input, _C.t(weight)), bias)


def _l1_loss(self, target, reduction=1):
    loss = _C.abs(_C.sub(self, target))
    return (loss, _C.mean(loss), _C.sum(loss))[reduction] if reduction else loss


_MADE = {"aten.linear.default": _linear, "aten.l1_loss.default": _l1_loss}


def decomposition(op):
    """A function that makes a call of the op of calls of others; None: it is an op of PyTorch's, too."""
    return _MADE.get(str(op))
