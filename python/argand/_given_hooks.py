"""Tensor._backward_hooks: hooks of a tensor as a dict that a program reads or sets."""
from collections.abc import Mapping

from . import _C


def _get_backward_hooks(self):
    """What register_hook() was given, by number, or the object that a program has set; None if nothing."""
    given = self.__dict__.get("_given_hooks")
    return _C._hooks_of(self) if given is None else given


def _set_backward_hooks(self, hooks):
    self.__dict__["_given_hooks"] = hooks
    if hooks is None or not isinstance(hooks, Mapping) or not self.requires_grad:
        return

    def call(grad):
        for hook in hooks.values():
            found = hook(grad)
            grad = grad if found is None else found
        return grad
    _C._register_hook(self, call)


def _refuse_deletion(self):
    raise RuntimeError("Tensor._backward_hooks cannot be deleted")


attribute = property(_get_backward_hooks, _set_backward_hooks, _refuse_deletion)
