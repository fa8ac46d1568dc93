"""Functions written in Python that classes and modes override as a whole (overrides.py), as they do those written in C++."""
import inspect
import types

from . import _C


def _normalizer(function):
    """Brings the arguments of a call into the form that overriding code sees with PyTorch: required arguments by position, all others by
    name, also those that the call leaves out."""
    parameters = None

    def normalize(*args, **kwargs):
        nonlocal parameters
        if parameters is None:
            signature = inspect.signature(function)
            parameters = signature, [p.name for p in signature.parameters.values()
                                     if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        signature, required = parameters
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.pop(name) for name in required), dict(bound.arguments)
    return normalize


def overridable(function, as_given=False):
    """The function, which now asks its arguments and the modes first; as_given: those see the call as it was written."""
    return _C.overridable(function, None if as_given else _normalizer(function))


def make_overridable(namespace, names=None, as_given=()):
    """Makes the functions of these names (by default all public ones that are defined under the namespace's module) overridable."""
    home = namespace["__name__"]
    for name, value in [*namespace.items()]:
        if isinstance(value, types.FunctionType) and (
                name in names if names is not None else not name.startswith("_") and value.__module__.startswith(home)):
            value.__module__ = home  # where pickle finds it
            namespace[name] = overridable(value, name in as_given)


# Methods of Tensor that are not overridable, as they reach the object itself.
_PLAIN_METHODS = ("__iter__", "__dir__", "__init_subclass__", "new", "as_subclass", "_typed_storage")


def make_methods_overridable(cls):
    """Makes the class's methods that are written in Python overridable."""
    for name, value in [*vars(cls).items()]:
        if isinstance(value, types.FunctionType) and name not in _PLAIN_METHODS:
            setattr(cls, name, _C.overridable_method(_as_method(value, cls, name)))


def _as_method(function, cls, name):
    """A copy of the function with the method's name, by which pickle finds it; the function may also be public by itself."""
    method = types.FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    method.__kwdefaults__, method.__doc__, method.__annotations__ = function.__kwdefaults__, function.__doc__, function.__annotations__
    method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
    return method
