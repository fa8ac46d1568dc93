"""torch.sym_int and the like: for sizes that a compiler would not know.  Here they are numbers."""
import math


def sym_int(a):
    """The number without its fraction."""
    return int(a)


def sym_float(a):
    """The number as a float."""
    return float(a)


def sym_max(a, b):
    """The greater number; a float if one is."""
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    """The smaller number; a float if one is."""
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_not(a):
    """not a"""
    return not a


def sym_ite(b, t, f):
    """t if b, else f."""
    return t if b else f


def sym_sqrt(a):
    """The square root."""
    return math.sqrt(a)


def sym_sum(*args):
    """The sum of numbers, or of those in a list."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)
