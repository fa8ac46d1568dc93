"""Ops with a gradient of their own, written in Python."""
import functools

from .. import _C
from .grad_mode import no_grad


class Function:
    """The base of ops written in Python.

        class Square(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, grad):
                x, = ctx.saved_tensors
                return 2 * x * grad

        y = Square.apply(x)

    `forward` may also be written without `ctx`, with a `setup_context(ctx, inputs, output)` beside it.
    """

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    @classmethod
    def _splits_context(cls):
        return cls.setup_context is not Function.setup_context

    @classmethod
    def apply(cls, *args):
        """Runs forward; its tensor results get the Function's backward as their history."""
        return _C._apply_function(cls, *args)


def once_differentiable(function):
    """Marks a backward whose result has no history."""
    @functools.wraps(function)
    def backward(ctx, *grads):
        with no_grad():
            return function(ctx, *grads)
    return backward


class InplaceFunction(Function):
    """A Function that may write its argument: where older programs keep whether it does."""

    def __init__(self, inplace=False):
        self.inplace = inplace


FunctionCtx = _C.FunctionCtx
