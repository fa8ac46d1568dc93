"""annotate(): the type of a value in a trace."""
from .proxy import Proxy

__all__ = ["annotate"]


def annotate(val, type):
    """Gives the node of a proxy a type, once; returns the value."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(f"torch.fx.annotate.annotate: the value of node {val.node} already has a type, {val.node.type}, and cannot get "
                               f"{type}. The type of an argument belongs into the function's signature")
        val.node.type = type
    return val
