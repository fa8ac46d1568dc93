"""The named tuples that functions with several results return, such as return_types.max for max()."""
from . import _C


def _of(name):
    function = getattr(_C, name, None) or getattr(_C.Tensor, name, None)
    return function._return_type if isinstance(function, (_C.function, _C.method)) else None


def _results(name, values):
    """One of them, made of a pickle."""
    return __getattr__(name)(values)


def __getattr__(name):
    if name == "all_return_types":
        return [found for found in map(_of, sorted({*dir(_C), *dir(_C.Tensor)})) if found is not None]
    found = None if name.startswith("_") else _of(name)
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return found
