"""Bases of optimizers whose update is written in Python, in tensor operations."""
from ..autograd.grad_mode import enable_grad, no_grad
from ._whole_step import whole_step
from .optimizer import Optimizer


class OptimizerInPython(Optimizer):
    """A subclass writes _update_all(), which updates every parameter that has a gradient."""

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for key, value in self.defaults.items():
                group.setdefault(key, value)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; `closure` computes the loss, which is returned, anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._update_all()
        return loss


class PointwiseOptimizer(OptimizerInPython):
    """A subclass writes _update(param, grad, state, group) for one parameter that has a gradient, which is not recorded."""

    def _update_all(self):
        stepped = [(p, group) for group in self.param_groups for p in group["params"] if p.grad is not None]
        with no_grad(), whole_step(self, [p for p, _ in stepped]):
            for p, group in stepped:
                self._update(p, -p.grad if group.get("maximize") else p.grad, self.state[p], group)
