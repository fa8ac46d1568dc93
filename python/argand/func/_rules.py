"""Functions and ops with a rule of their own for vmap.

vmap is a loop over slices, in which a Function without such a rule is called as any other.  The rule of one, its `vmap` staticmethod, or of
an op, of register_vmap(), gets a batch: all of it where the Function itself is what vmap maps, as in vmap(MyFunction.apply), and one slice
at a time, a batch of one, where it is called within the function that vmap maps.
"""
import types
import typing

from .. import _C
from ..autograd._vmap_levels import levels, within
from ..autograd.function import Function
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten

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
    """(True, results) of a Function whose rule takes a slice among args as a batch of one; (False, None) if no call of vmap cut any."""
    check(cls)
    return by_slice(cls.vmap, args) if _has_rule(cls) else (False, None)


def by_slice(rule, args, kwargs=types.MappingProxyType({})):
    """apply() of a rule."""
    scopes, (flat, spec) = levels.of_thread, tree_flatten(tuple(args))
    for depth in reversed(range(len(scopes))):
        of_slice = [isinstance(x, _C.Tensor) and scopes[depth].slices.differs(x) for x in flat]
        if any(of_slice):
            break
    else:
        return False, None
    batch = tree_unflatten([x.unsqueeze(0) if own else x for x, own in zip(flat, of_slice)], spec)
    in_dims = tree_unflatten([0 if own else None for own in of_slice], spec)
    with within(scopes[:depth]):
        results, dims, spec = call(rule, VmapInfo(1, scopes[depth].randomness), in_dims, batch, kwargs)
    return True, tree_unflatten([x if dim is None else x.select(dim, 0) for x, dim in zip(results, dims)], spec)


def refuse_tensors(kwargs):
    """Arguments that have no place: a rule would not know of which dimension they are."""
    if any(isinstance(x, _C.Tensor) for x in tree_flatten(kwargs)[0]):
        raise NotImplementedError("Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
                                  f"autograd.Function. Got: {kwargs}")
