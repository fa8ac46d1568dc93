"""Forward-mode derivatives, as torch.autograd.forward_ad: tangents that travel with tensors.

A dual tensor is a fresh tensor (Note [Inputs of transforms]) that requires grad, whose tangent its level keeps.  unpack_dual() makes the
tangent of a result of two backward passes through what was recorded (Note [Forward products]), after one that finds the duals it depends
on.  So what runs within a level must be recorded, not under no_grad(), and results require grad, which PyTorch's forward mode leaves as
it was.
"""
import threading
from typing import NamedTuple, Optional

from .. import _C
from .functional import _forward
from .grad_mode import _DecoratorContextManager, enable_grad


class _Levels(threading.local):
    def __init__(self):
        self.open = []


_levels = _Levels()


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual() returns."""
    primal: _C.Tensor
    tangent: Optional[_C.Tensor]


def enter_dual_level():
    """Begins a level, in which dual tensors can be made; its number, 0."""
    if _levels.open:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.open.append([])
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: its dual tensors are plain ones from then on."""
    if not _levels.open or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _C._end_transform_inputs([dual for dual, _ in _levels.open.pop()])


class dual_level(_DecoratorContextManager):
    """The scope of a level."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def _check_level(level):
    if level not in (None, 0):
        raise RuntimeError(f"forward AD: expected the number of the level that is open, 0, got {level}")


def make_dual(tensor, tangent, *, level=None):
    """A dual tensor with the values of `tensor` and a tangent of the same shape, dtype and device."""
    _check_level(level)
    if not _levels.open:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for name, x in (("tensor", tensor), ("tangent", tangent)):
        if not isinstance(x, _C.Tensor) or not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {getattr(x, 'dtype', type(x).__name__)}")
    for what in ("shape", "dtype", "device"):
        if getattr(tensor, what) != getattr(tangent, what):
            raise RuntimeError(f"Expected the tangent to have the {what} of the tensor, {getattr(tensor, what)}, but got: "
                               f"{getattr(tangent, what)}")
    with enable_grad():
        dual = tensor.view_as(tensor) if tensor.requires_grad else _C._as_transform_input(tensor.detach())
    _levels.open[-1].append((dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """(the values of a tensor, its tangent): the tangent is None where it does not depend on a dual tensor of this level."""
    _check_level(level)
    pairs = _levels.open[-1] if _levels.open else []
    for dual, tangent in pairs:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    return _unpacked(tensor, pairs) if pairs and tensor.requires_grad else UnpackedDualTensor(tensor, None)


def _unpacked(output, pairs):
    from . import grad
    with enable_grad():
        reached = grad(output, [dual for dual, _ in pairs], _C.ones_like(output), retain_graph=True, allow_unused=True)
        used = [pair for pair, g in zip(pairs, reached) if g is not None]
        if not used:
            return UnpackedDualTensor(output, None)
        duals, tangents = zip(*used)
        # What requires grad besides the duals that do only because they were made so.
        has_history = any(t.requires_grad for t in tangents) or _C._depends_on_others([output], [dual for dual, _ in pairs])
        tangent, = _forward((output,), duals, tangents, create_graph=has_history)
    return UnpackedDualTensor(output, tangent) if has_history else UnpackedDualTensor(output.detach(), tangent.detach())
