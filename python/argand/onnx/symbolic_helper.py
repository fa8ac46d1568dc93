"""Marks of functions that would write ops into a file."""


def parse_args(*_):
    """Marks the kinds of a function's arguments; here it stays what it is."""
    return lambda function: function
