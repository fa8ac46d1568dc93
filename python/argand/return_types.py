"""The named tuples that functions with several results return, such as return_types.max for max()."""
from . import _C, _surface


def _of(name):
    function = None if name.startswith("_") else getattr(_C, name, None) or getattr(_C.Tensor, name, None)
    return function._return_type if isinstance(function, (_C.function, _C.method)) else None


def _names():
    return [name for name in sorted({*dir(_C), *dir(_C.Tensor)}) if _of(name) is not None]


def _all():
    return list(map(_of, _names()))


def _results(name, values):
    """A result by name, made of a pickle."""
    return _of(name)(values)


__getattr__, __dir__ = _surface.of(__name__, _of, _names)
