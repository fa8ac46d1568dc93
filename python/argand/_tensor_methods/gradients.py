"""Gradients of tensors."""
import warnings

from .. import _C, _given_hooks
from .._hook_handles import RemovedByCall
from ..autograd._backward import backward as run_backward


class Gradients:
    """backward(), and hooks of gradients."""

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Sums the gradients of this tensor into .grad of the leaves it depends on (or of `inputs` alone)."""
        run_backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook):
        """Calls `hook` with the gradient of this tensor, whenever one is computed; what it returns, if anything, replaces it."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        handle = _C._register_hook(self, hook)
        return RemovedByCall(lambda: _C._remove_hook(self, handle))

    _backward_hooks = _given_hooks.attribute

    def register_post_accumulate_grad_hook(self, hook):
        """Calls `hook` with this leaf whenever backward has added to its .grad: where an optimizer can step, and free it."""
        handle = _C._register_post_accumulate_grad_hook(self, hook)
        return RemovedByCall(lambda: _C._remove_hook(self, handle))

    @property
    def volatile(self):
        """False, with a warning: torch.no_grad() took its place."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False
