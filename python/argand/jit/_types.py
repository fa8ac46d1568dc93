"""torch.jit.isinstance()."""
import types
import typing


def is_of(obj, kind):
    """isinstance() for types with parameters, as List[int]: what they hold is looked at, and an empty one is of all."""
    if isinstance(kind, tuple):
        return any(is_of(obj, one) for one in kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple, typing.Optional):
        name = getattr(kind, "__name__", None) or kind._name
        example = {"dict": "[int, int]", "tuple": "[int, int]"}.get(name.lower(), "[int]")
        raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, e.g. {name}{example}")
    if origin in (typing.Union, types.UnionType):
        return any(is_of(obj, one) for one in parts)
    if origin is None:
        return isinstance(obj, kind)
    if not isinstance(obj, origin):
        return False
    if origin is list:
        return all(is_of(item, parts[0]) for item in obj)
    if origin is dict:
        return all(is_of(key, parts[0]) and is_of(value, parts[1]) for key, value in obj.items())
    if origin is tuple:
        return len(obj) == len(parts) and all(map(is_of, obj, parts))
    return True
