"""Public functions of C++ as Python functions, which name their public module, so that they can be pickled and copied.

Inside the package the C++ functions are called (`_C.is_grad_enabled()`), which are faster."""
from . import _C


def plain(function, module, name=None):
    """What does the same as a function of _C, as one of a module's own."""
    def plain(*args, **kwargs):
        return function(*args, **kwargs)
    plain.__module__, plain.__name__, plain.__doc__ = module, name or function.__name__, function.__doc__
    plain.__qualname__ = plain.__name__
    return plain


def make_plain(namespace):
    """Replaces the C++ functions that a module shows under public names by Python functions."""
    for name, value in namespace.items():
        if type(value) is type(_C.is_grad_enabled) and not name.startswith("_"):
            namespace[name] = plain(value, namespace["__name__"], name)
