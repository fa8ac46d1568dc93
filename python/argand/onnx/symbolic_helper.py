"""Marks of functions that would write ops into a file."""
from .._ignored import harmless
from .._named_modules import names_of as _names_of


@harmless(_="nothing is exported: export() says so")
def parse_args(*_):
    """Marks the kinds of a function's arguments; here it stays what it is."""
    return lambda function: function


__getattr__ = _names_of(__name__)
