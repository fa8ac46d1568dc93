"""What programs ask of torch.fx without tracing anything."""


def wrap(fn_or_name):
    """Marks a function as a leaf of tracing; here it stays what it is."""
    return fn_or_name


class Proxy:
    """The type of values in a trace; nothing is traced, so there are none."""


class Node:
    """The type of steps in a trace; there are none."""


class GraphModule:
    """The type of modules made of traces; there are none."""
