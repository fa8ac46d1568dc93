"""Functions of autograd that modules are written with."""
from ...autograd.function import Function


class BackwardHookFunction(Function):
    """Passes tensors on as they are; their gradients, on the way back, go through `on_gradients`."""

    @staticmethod
    def forward(ctx, on_gradients, *tensors):
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        ctx.on_gradients = on_gradients
        return tensors

    @staticmethod
    def backward(ctx, *gradients):
        if all(g is None for g in gradients):  # nothing came this way, as where a gradient is differentiated
            return (None,) * (1 + len(gradients))
        return (None, *ctx.on_gradients(gradients))
