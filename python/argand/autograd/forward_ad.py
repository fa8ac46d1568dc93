"""Forward-mode derivatives, as torch.autograd.forward_ad: tangents that travel with tensors (docs/design/0022-forward-mode.md).

The level of dual_level() is one of those that a thread is in; torch.func's jvp() makes another for each call.  Ops give tangents in C++
(argand/exec/forward_mode.h); what stands here are the levels, the dual tensors, and Functions that have a jvp.
"""
import contextlib
import threading
from typing import NamedTuple, Optional

from .. import _C, _surface
from ._vmap_levels import levels as transforms
from .grad_mode import _DecoratorContextManager


class _State(threading.local):
    dual_level = None  # that of dual_level()


_state = _State()


class UnpackedDualTensor(NamedTuple):
    """What unpack_dual() returns."""
    primal: _C.Tensor
    tangent: Optional[_C.Tensor]


# ---- levels

def _new_level():
    """A level within all transforms that this thread is in."""
    return _C._ForwardLevel(transforms.depth + 1)


@contextlib.contextmanager
def _scope_of(level):
    """The scope of a level that a transform makes: tangents travel within it, whether or not they do around it."""
    before = _C._set_forward_enabled(True)
    level.enter()
    try:
        with transforms.deeper():
            yield level
    finally:
        level.exit()
        _C._set_forward_enabled(before)


def _open_level():
    return -1 if _state.dual_level is None else 0


def enter_dual_level():
    """Begins a level, in which dual tensors can be made; its number, 0."""
    if _state.dual_level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _state.dual_level = _new_level()
    transforms.depth += 1
    _state.dual_level.enter()
    return 0


def exit_dual_level(*, level=None):
    """Ends the level: its dual tensors are plain ones from then on."""
    if _state.dual_level is None or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    ended, _state.dual_level = _state.dual_level, None
    transforms.depth -= 1
    ended.exit()


class dual_level(_DecoratorContextManager):
    """The scope of a level."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def _is_fwd_grad_enabled():
    """Whether tangents travel; they do, unless _set_fwd_grad_enabled(False)."""
    return _C._forward_is_enabled()


class _set_fwd_grad_enabled(_DecoratorContextManager):
    """Tangents travel, or do not, from now on; in a `with` statement, for its scope."""

    def __init__(self, mode):
        self._before = _C._set_forward_enabled(bool(mode))

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _C._set_forward_enabled(self._before)


# ---- dual tensors

def _check_level(level):
    if level not in (None, 0):
        raise RuntimeError(f"forward AD: expected the number of the level that is open, 0, got {level}")


def _check_fits(tensor, tangent):
    if tensor.shape != tangent.shape:
        raise RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                           f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
                           f"{list(tangent.shape)}.")
    for what in ("dtype", "device"):
        if getattr(tensor, what) != getattr(tangent, what):
            raise RuntimeError(f"Expected the tangent to have the {what} of the tensor, {getattr(tensor, what)}, but got: "
                               f"{getattr(tangent, what)}")


def _dual(level, tensor, tangent):
    """A dual tensor of a level."""
    for name, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, _C.Tensor) or not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {getattr(x, 'dtype', type(x).__name__)}")
    _check_fits(tensor, tangent)
    if level.tangent(tangent) is not None:
        raise RuntimeError("Trying to set a forward gradient that has a forward gradient at the same level. This is not supported.")
    made = level.primal(tensor)
    level.set(made, tangent)
    return made


def make_dual(tensor, tangent, *, level=None):
    """A dual tensor with the values of `tensor` and a tangent of the same shape, dtype and device."""
    _check_level(level)
    if _state.dual_level is None:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if isinstance(tensor, _C.Tensor) and _state.dual_level.tangent(tensor) is not None:
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same level is not supported.")
    return _dual(_state.dual_level, tensor, tangent)


def unpack_dual(tensor, *, level=None):
    """(the values of a tensor, its tangent): the tangent is None where it does not depend on a dual tensor of this level."""
    _check_level(level)
    own = _state.dual_level
    tangent = own.tangent(tensor) if own is not None and _C._forward_is_enabled() else None
    return UnpackedDualTensor(tensor if tangent is None else own.primal(tensor), tangent)


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


def _check_tangent(i, result, tangent, context, tensors, tangents, versions):
    """Refuses tangents of what has none, and those that do not share memory as the results do."""
    constant = not isinstance(result, _C.Tensor) or not (result.is_floating_point() or result.is_complex())
    if constant or any(result is t for t in context.non_differentiable):
        raise RuntimeError(f"A custom Function's jvp returned a tangent for result {i} of forward, which is not differentiable. You should "
                           "return None at that position instead.")
    _check_fits(result, tangent)
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
            where = " of the given tangent" if t._base is None else " of the same base as the given tangent"
            raise RuntimeError(_NOT_A_VIEW.format(where))


def _levels_of(args):
    """The levels for which one of the arguments of a Function has a tangent, the outermost first."""
    return _C._forward_levels([a for a in args if isinstance(a, _C.Tensor)])


def _apply(cls, args, levels):
    """cls.apply(*args): the tangents of the results are those that its jvp gives."""
    with _C._KeptResults() as kept:
        with _C._ForwardScope(enabled=False):
            results, context, node = _C._apply_function_with_context(cls, *args)
        outputs = results if isinstance(results, tuple) else (results,)
        for level in levels:
            with _C._ForwardScope(level):
                _give_tangents(cls, args, outputs, context, level)
        kept.share()
        del node  # the context needed it
    return results


def _give_tangents(cls, args, outputs, context, level):
    found = [level.tangent(a) if isinstance(a, _C.Tensor) else None for a in args]
    if all(t is None for t in found):
        return
    tensors, of_tensors = [a for a in args if isinstance(a, _C.Tensor)], [t for a, t in zip(args, found) if isinstance(a, _C.Tensor)]
    if context.materialize_grads:
        found = [_C.zeros_like(a) if t is None and isinstance(a, _C.Tensor) and (a.is_floating_point() or a.is_complex()) else t
                 for a, t in zip(args, found)]
    versions = [None if t is None else t._version for t in of_tensors]
    tangents = cls.jvp(_Given(context), *found)
    tangents = tangents if isinstance(tangents, tuple) else (tangents,)
    if len(tangents) != len(outputs):
        raise RuntimeError(f"function {cls.__name__} returned an incorrect number of forward gradients: expected {len(outputs)}, got "
                           f"{len(tangents)}")
    for i, (y, tangent) in enumerate(zip(outputs, tangents)):
        if isinstance(tangent, _C.Tensor):
            _check_tangent(i, y, tangent, context, tensors, of_tensors, versions)
            level.set(y, tangent, in_place=any(y is x for x in tensors))


__getattr__, __dir__ = _surface.of(__name__)
