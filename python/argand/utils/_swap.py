"""swap_tensors()."""
import copyreg
import weakref

from .. import _C
from ..autograd.graph import get_gradient_edge


def _backward_after_swap(_):
    raise RuntimeError("Trying to execute AccumulateGrad node that was poisoned by swap_tensors: a tensor changed places between forward "
                       "and backward, so its gradient has no place to go. Convert a module (m.cpu(), m.half()) before forward or after "
                       "backward where torch.__future__.set_swap_module_params_on_conversion(True) is on.")


def _swap_slots(t1, t2, slots):
    missing = object()
    for slot in slots:
        values = getattr(t1, slot, missing), getattr(t2, slot, missing)
        for t, value in zip((t2, t1), values):
            if value is not missing:
                setattr(t, slot, value)
            elif hasattr(t, slot):
                delattr(t, slot)


def swap_tensors(t1, t2):
    """Makes each tensor the other: values, gradients, class and attributes; who holds one of them sees it changed.  A graph that was
    recorded before cannot run backward to them."""
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(copyreg._slotnames(type(t1)))
    if slots != set(copyreg._slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for t in (t1, t2):
        if t.is_leaf and t.requires_grad:  # of no effect, unless a graph has this node already
            get_gradient_edge(t).node.register_prehook(_backward_after_swap)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    _swap_slots(t1, t2, slots)
    _C._swap_tensors(t1, t2)
