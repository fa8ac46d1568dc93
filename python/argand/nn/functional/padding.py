"""Padding."""
from ... import _C


def pad(input, pad, mode="constant", value=None):
    """Adds to (or takes from) the ends of the last dimensions, last first: constant, reflect, replicate or circular."""
    return _C.pad(input, pad, mode, value)
