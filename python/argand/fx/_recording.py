"""Functions that record a call of themselves if an argument is a proxy."""
import functools

from .node import map_aggregate
from .proxy import Proxy


def find_proxy(*values):
    """The first proxy in a nest of values, or None."""
    found = []
    map_aggregate(values, lambda v: found.append(v) if isinstance(v, Proxy) else None)
    return found[0] if found else None


def recorder(function):
    """A function that given a proxy records a call of `function`, marked as one of wrap()'s, and else does what it does."""
    @functools.wraps(function)
    def recorded(*args, **kwargs):
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result
    return recorded
