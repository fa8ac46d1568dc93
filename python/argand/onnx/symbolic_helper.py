"""Marks of functions that would write ops into a file."""
from .._ignored import harmless
from .. import _surface


@harmless(_="nothing is exported: export() says so")
def parse_args(*_):
    """Marks the kinds of a function's arguments; here it stays what it is."""
    return lambda function: function


__getattr__, __dir__ = _surface.of(__name__)
