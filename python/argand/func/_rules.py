"""Functions and ops with a rule of their own for vmap.

A Function without such a rule is called as any other, with tensors that stand for slices.  The rule of one, its `vmap` staticmethod, or that
of an op, of register_vmap(), gets the batch.
"""
import contextlib
import functools
import types
import typing

from .. import _C
from ..autograd._vmap_levels import levels
from ..autograd.function import Function
from ..autograd.grad_mode import enable_grad
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten
from ._batched import has_outer_history, level_of

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(typing.NamedTuple):
    """What a rule is told besides its arguments."""
    batch_size: int
    randomness: str


def check(cls):
    """A Function has a rule, or says that none is needed, but not both."""
    if cls.generate_vmap_rule and _has_rule(cls):
        raise RuntimeError(f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. "
                           f"Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. {_MORE}")


def _has_rule(cls):
    return cls.vmap is not Function.vmap


def of(func):
    """The rule of what vmap maps, and the function (args, kwargs) -> (args, kwargs) that gives the arguments their places; None without a rule.

    func may be apply() of a Function, or an op that register_vmap() was told of.
    """
    if hasattr(type(func), "_bound") and func._vmap_rule is not None:  # of its class: functools.wraps() copies attributes
        return func._vmap_rule, func._bound
    cls = getattr(func, "__self__", None)
    if not (isinstance(cls, type) and issubclass(cls, Function) and getattr(func, "__func__", None) is Function.apply.__func__):
        return None
    check(cls)
    return (cls.vmap, lambda args, kwargs: (cls._bound(args, kwargs, True), {})) if _has_rule(cls) else None


def call(rule, info, in_dims, args, kwargs):
    """The rule's results and, of each, the dimension of the batch or None: (leaves, dims, structure)."""
    refuse_tensors(kwargs)
    returned = rule(info, in_dims, *args, **kwargs)
    if not (isinstance(returned, tuple) and len(returned) == 2):
        got = f"got {len(returned)} returns instead" if isinstance(returned, tuple) else f"Got a {type(returned)} instead"
        raise RuntimeError("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with "
                           f"the output. {got}")
    output, out_dims = returned
    flat, spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise RuntimeError("The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
                           f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
                           f"{tree_structure(out_dims)} but output has structure {spec}. {_MORE}")
    return flat, dims, spec


def apply(cls, args):
    """(True, results) of a Function with a rule, some of whose arguments differ between slices; (False, None) for all others."""
    check(cls)
    if not _has_rule(cls):
        return False, None
    flat = tree_flatten(tuple(args))[0]
    if level_of(flat) is None:
        return False, None
    if _C.is_grad_enabled() and any(isinstance(x, _C.Tensor) and x.requires_grad for x in flat):
        return True, _C._apply_function(_recorded(cls), *args)
    return by_slice(cls.vmap, args)


@functools.cache
def _recorded(cls):
    """The Function with its rule as its forward, for gradients within the function that vmap maps."""
    def forward(*args):
        return by_slice(cls.vmap, args)[1]
    return type(cls)(cls.__name__ + "Generated", (cls,), {"forward": staticmethod(forward), "vmap": Function.vmap})


def by_slice(rule, args, kwargs=types.MappingProxyType({})):
    """(True, results) of a rule, for the slices among the arguments; (False, None) if there are none."""
    flat, spec = tree_flatten(tuple(args))
    level = level_of(flat)
    if level is None:
        return False, None
    with levels.outside(level), enable_grad() if has_outer_history(flat) else contextlib.nullcontext():
        flat = [level.bare(x) for x in flat]
        values = [level.front(x) if isinstance(x, _C.Tensor) else None for x in flat]
        batch = tree_unflatten([x if value is None else value for x, value in zip(flat, values)], spec)
        in_dims = tree_unflatten([None if value is None else 0 for value in values], spec)
        results, dims, spec = call(rule, VmapInfo(level.size, level.randomness), in_dims, batch, kwargs)
        return True, tree_unflatten([x if dim is None else level.batched(x, dim) for x, dim in zip(results, dims)], spec)


def refuse_tensors(kwargs):
    """Arguments that have no place: a rule would not know of which dimension they are."""
    if any(isinstance(x, _C.Tensor) for x in tree_flatten(kwargs)[0]):
        raise NotImplementedError("Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
                                  f"autograd.Function. Got: {kwargs}")
