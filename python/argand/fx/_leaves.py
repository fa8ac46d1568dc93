"""Functions of the library that are written in Python, as leaves of traces.

Note [Leaves written in Python]
While a trace runs, the code of these functions is that of _recording(): wherever a program has got them from, given a
proxy they record a call of themselves, and else do what they did.
"""
import functools
import inspect
import types

import argand

from ._names import public_module
from .node import map_aggregate
from .proxy import Proxy

# With PyTorch these are Python, too, and record required arguments by position and all others by name, given or not; so do those
# of torch.nn.functional but a few.
_NORMALIZED = ("cdist", "lu", "norm", "pca_lowrank", "split", "svd_lowrank", "tensordot", "unique", "unique_consecutive")
# With PyTorch these are C, and record their arguments as they were given.
_FUNCTIONAL_AS_GIVEN = ("bilinear", "channel_shuffle", "pixel_shuffle", "pixel_unshuffle", "rrelu_", "scaled_dot_product_attention")
_AS_GIVEN = ("_assert", "get_device", "is_complex", "is_floating_point", "is_inference", "is_signed", "nonzero", "numel", "result_type",
             "unravel_index", "where")


def find_proxy(*values):
    """The first proxy in a nest of values, or None."""
    found = []
    map_aggregate(values, lambda v: found.append(v) if isinstance(v, Proxy) else None)
    return found[0] if found else None


def recorder(function, original=None, normalize=None, is_wrapped=False):
    """A function that given a proxy records a call of `function`, and else does what `original` does."""
    original = original or function

    @functools.wraps(function)
    def recorded(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        if normalize is not None:
            args, kwargs = normalize(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        if is_wrapped:
            result.node.meta["is_wrapped"] = True
        return result
    return recorded


def _normalizer(function):
    signature = inspect.signature(function)
    required = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        return None

    def normalize(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.pop(name) for name in required), dict(bound.arguments)
    return normalize


def _recording(*args, _recorder, **kwargs):
    return _recorder(*args, **kwargs)


def _leaf(function, normalize):
    original = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    original.__kwdefaults__ = function.__kwdefaults__
    return function, recorder(function, original, normalize)


@functools.cache
def _leaves():
    """[(function, its recorder)]"""
    functional, top = vars(argand.nn.functional), vars(argand)
    found = {f: None if name in _FUNCTIONAL_AS_GIVEN else _normalizer(f) for name, f in functional.items()
             if inspect.isfunction(f) and not name.startswith("_") and public_module(f.__globals__["__name__"]).startswith("torch.nn.functional")}
    found |= {top[name]: _normalizer(top[name]) for name in _NORMALIZED if inspect.isfunction(top[name])}
    found |= {top[name]: None for name in _AS_GIVEN if inspect.isfunction(top[name])}
    return [_leaf(f, normalize) for f, normalize in found.items()]


def patch_leaves(patcher):
    """Note [Leaves written in Python], until the patcher's end."""
    for function, recorded in _leaves():
        # Code must have the names that the function's closure has values of.
        code = _recording.__code__.replace(co_freevars=function.__code__.co_freevars)
        patcher.patch_function(function, code, {"_recorder": recorded})
