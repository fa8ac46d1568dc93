"""Forward-mode derivatives, as torch.autograd.forward_ad: tangents that travel with tensors.

A dual tensor is a fresh tensor (Note [Inputs of transforms]) that requires grad, whose tangent its level keeps.  unpack_dual() makes the
tangent of a result of two backward passes through what was recorded (Note [Forward products]), after one that finds the duals it depends
on.  So what runs within a level must be recorded, not under no_grad(), and results require grad, which PyTorch's forward mode leaves as
it was.

Where a Function has a jvp, its results are duals of their own, with the tangents that it gave: the passes of unpack_dual() end there, and
no others do (Function._backward_function).
"""
import contextlib
import threading
import weakref
from typing import NamedTuple, Optional

from .. import _C, _surface
from ._backward import grad
from .grad_mode import _DecoratorContextManager, enable_grad


class _Dual:
    """The edge at which the gradient of a dual tensor arrives, and the tensor's tangent.  It does not keep the tensor itself alive."""

    def __init__(self, tensor, tangent, primal=None):
        from .graph import GradientEdge
        self.tensor, self.tangent, self.primal = weakref.ref(tensor), tangent, primal
        self.edge = GradientEdge(tensor.grad_fn, tensor.output_nr)

    def is_still(self, tensor):
        """Whether it is that tensor, and not written since."""
        return self.tensor() is tensor and tensor.grad_fn == self.edge.node and tensor.output_nr == self.edge.output_nr


class _Level:
    def __init__(self):
        self.duals, self.fresh, self.unpacking = [], [], False


class _State(threading.local):
    def __init__(self):
        self.open, self.enabled = [], True
        self.transforms = 0  # those that are running and that need to know what was recorded while tangents did not travel
        self.off = []  # [the first number of a node that was recorded so, the first one after them or None]


_state = _State()


def _set_enabled(mode):
    """Whether tangents travel from now on; whether they did before."""
    before, _state.enabled = _state.enabled, bool(mode)
    if before is not _state.enabled and (_state.open or _state.transforms):
        if before:
            _state.off.append([_C._next_sequence_nr(), None])
        elif _state.off and _state.off[-1][1] is None:
            _state.off[-1][1] = _C._next_sequence_nr()
    return before


@contextlib.contextmanager
def _transform():
    """The scope of a forward transform, within which tangents travel, whether or not they do around it."""
    before, state = _set_enabled(True), _state
    state.transforms += 1
    try:
        yield
    finally:
        state.transforms -= 1
        _set_enabled(before)
        if not state.transforms and not state.open:
            state.off.clear()


@contextlib.contextmanager
def _off():
    """A scope in which tangents do not travel, and nothing is recorded that they could travel through."""
    before, _state.enabled = _state.enabled, False
    try:
        yield
    finally:
        _state.enabled = before


@contextlib.contextmanager
def _without_off(outputs):
    """A scope in which backward passes from `outputs` give nothing to what was recorded while tangents did not travel."""
    handles = []
    if _state.off:
        seen, waiting = set(), [y.grad_fn for y in outputs if y.grad_fn is not None]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            number = node._sequence_nr()
            if any(first <= number and (end is None or number < end) for first, end in _state.off):
                handles.append(node.register_prehook(lambda grads: (None,) * len(grads)))
            else:
                waiting.extend(following for following, _ in node.next_functions if following is not None)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual() returns."""
    primal: _C.Tensor
    tangent: Optional[_C.Tensor]


def _open_level():
    return len(_state.open) - 1


def _is_open():
    return bool(_state.open) and _state.enabled


def enter_dual_level():
    """Begins a level, in which dual tensors can be made; its number, 0."""
    if _state.open:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _state.open.append(_Level())
    if not _state.enabled and not _state.transforms:
        _state.off.append([_C._next_sequence_nr(), None])
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: its dual tensors are plain ones from then on."""
    if not _state.open or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    level = _state.open.pop()
    _C._end_transform_inputs(level.fresh)
    level.duals.clear()  # contexts of Functions know the level
    level.fresh.clear()
    if not _state.transforms:
        _state.off.clear()


class dual_level(_DecoratorContextManager):
    """The scope of a level."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def _is_fwd_grad_enabled():
    """Whether tangents travel; they do, unless _set_fwd_grad_enabled(False)."""
    return _state.enabled


class _set_fwd_grad_enabled(_DecoratorContextManager):
    """Tangents travel, or do not, from now on; in a `with` statement, for its scope."""

    def __init__(self, mode):
        self._before = _set_enabled(mode)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _set_enabled(self._before)


def _check_level(level):
    if level not in (None, 0):
        raise RuntimeError(f"forward AD: expected the number of the level that is open, 0, got {level}")


def make_dual(tensor, tangent, *, level=None):
    """A dual tensor with the values of `tensor` and a tangent of the same shape, dtype and device."""
    _check_level(level)
    if not _state.open:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, _C.Tensor) or not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {getattr(x, 'dtype', type(x).__name__)}")
    if tensor.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                           f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
                           f"{list(tangent.shape)}.")
    for what in ("dtype", "device"):
        if getattr(tensor, what) != getattr(tangent, what):
            raise RuntimeError(f"Expected the tangent to have the {what} of the tensor, {getattr(tensor, what)}, but got: "
                               f"{getattr(tangent, what)}")
    level = _state.open[-1]
    if unpack_dual(tangent).tangent is not None:
        raise RuntimeError("Trying to set a forward gradient that has a forward gradient at the same level. This is not supported.")
    if tangent.untyped_storage().nbytes() != tensor.untyped_storage().nbytes() or tangent.stride() != tensor.stride():
        tangent = tangent.clone()  # as in PyTorch, it is the tensor itself only where it lies in memory as the primal does
    with enable_grad():
        if tensor.requires_grad:
            dual = tensor.view_as(tensor)
        else:
            dual = _C._as_transform_input(_C.alias(tensor))
            level.fresh.append(dual)
    level.duals.append(_Dual(dual, tangent, tensor))
    return dual


def unpack_dual(tensor, *, level=None):
    """(the values of a tensor, its tangent): the tangent is None where it does not depend on a dual tensor of this level."""
    _check_level(level)
    if not _is_open():
        return UnpackedDualTensor(tensor, None)
    level = _state.open[-1]
    for dual in level.duals:
        if dual.is_still(tensor):
            primal = dual.primal
            with enable_grad():
                values = tensor.detach() if primal is None or not primal.requires_grad else primal.view_as(primal)
            return UnpackedDualTensor(values, dual.tangent)
    return _unpacked(tensor, level) if level.duals and tensor.requires_grad else UnpackedDualTensor(tensor, None)


def _unpacked(output, level):
    with enable_grad():
        level.unpacking = True
        try:
            with _without_off([output]):
                edges = [dual.edge for dual in level.duals]
                reached = grad(output, edges, _C.ones_like(output), retain_graph=True, allow_unused=True)
                used = [dual for dual, g in zip(level.duals, reached) if g is not None]
                if not used:
                    return UnpackedDualTensor(output, None)
                # The product with the Jacobian: Note [Forward products].
                vector = _C._as_transform_input(_C.zeros_like(output))
                back = grad(output, [dual.edge for dual in used], vector, create_graph=True)
        finally:
            level.unpacking = False
        _C._end_transform_inputs([vector])
        # What requires grad besides the duals that do only because they were made so.
        has_history = any(dual.tangent.requires_grad for dual in used) or _C._depends_on_others([output], level.fresh)
        pairs = [(g, dual.tangent) for g, dual in zip(back, used) if g.requires_grad]
        tangent = None
        if pairs:
            tangent, = grad([g for g, _ in pairs], [vector], [t for _, t in pairs], retain_graph=True, create_graph=has_history,
                            allow_unused=True)
        if tangent is None:
            tangent = _C.zeros_like(output)
    return UnpackedDualTensor(output, tangent) if has_history else UnpackedDualTensor(output.detach(), tangent.detach())


# ---- Functions with a jvp

class _Given:
    """The context of a Function as its jvp sees it: with what was saved for it."""

    def __init__(self, context):
        object.__setattr__(self, "_context", context)

    @property
    def saved_tensors(self):
        return self._context.saved_for_forward or ()

    def __getattr__(self, name):
        return getattr(self._context, name)

    def __setattr__(self, name, value):
        setattr(self._context, name, value)


_NOT_A_VIEW = ("A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view{}. The tangent must "
               "be the same view of the input's tangent that the result is of the input.")


def _check_tangent(i, result, tangent, tensors, tangents, versions):
    """Refuses tangents of what has none, and those that do not share memory as the results do."""
    if not isinstance(tangent, _C.Tensor):
        return
    if not isinstance(result, _C.Tensor) or result.grad_fn is None:
        raise RuntimeError(f"A custom Function's jvp returned a tangent for result {i} of forward, which is not differentiable. You should "
                           "return None at that position instead.")
    if any(result is x for x in tensors):
        if not any(tangent is t and t._version != version for t, version in zip(tangents, versions)):
            raise RuntimeError("An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
                               "an input inplace, then the jvp function must modify the corresponding gradient inplace.")
        return
    for x, t in zip(tensors, tangents):
        if t is None or x.untyped_storage().data_ptr() != result.untyped_storage().data_ptr():
            continue
        if tangent is t or tangent._base is None:
            raise RuntimeError(_NOT_A_VIEW.format(""))
        base = t if t._base is None else t._base
        if tangent._base is not base:
            where = " of the same base as the given tangent" if x._base is not None and t._base is None else " of the given tangent"
            raise RuntimeError(_NOT_A_VIEW.format(where))


def _apply(cls, args):
    """cls.apply(*args): the tangents of the results are those that its jvp gives."""
    level = _state.open[-1]
    tensors = [a for a in args if isinstance(a, _C.Tensor)]
    found = [unpack_dual(a).tangent if isinstance(a, _C.Tensor) and a.requires_grad else None for a in args]
    with _off():
        results, context = _C._apply_function_with_context(cls, *args)
    if all(t is None for t in found):
        return results
    outputs = results if isinstance(results, tuple) else (results,)
    if context.materialize_grads:
        found = [_C.zeros_like(a) if t is None and isinstance(a, _C.Tensor) and (a.is_floating_point() or a.is_complex()) else t
                 for a, t in zip(args, found)]
    context._forward_level, context._num_arguments = level, len(args)
    of_tensors = [t for a, t in zip(args, found) if isinstance(a, _C.Tensor)]
    versions = [None if t is None else t._version for t in of_tensors]
    tangents = cls.jvp(_Given(context), *found)
    tangents = tangents if isinstance(tangents, tuple) else (tangents,)
    if len(tangents) != len(outputs):
        raise RuntimeError(f"function {cls.__name__} returned an incorrect number of forward gradients: expected {len(outputs)}, got "
                           f"{len(tangents)}")
    for i, (y, tangent) in enumerate(zip(outputs, tangents)):
        _check_tangent(i, y, tangent, tensors, of_tensors, versions)
        if isinstance(tangent, _C.Tensor):
            level.duals.append(_Dual(y, tangent))
    return results


__getattr__, __dir__ = _surface.of(__name__)
