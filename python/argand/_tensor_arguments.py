"""Arguments of functions written in Python that must be tensors: what is none is the TypeError that ops written in C++ give."""
from . import _C


def need_tensors(function, **arguments):
    """TypeError unless the first arguments of a function, in their order and by their names, are tensors."""
    for position, (name, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, _C.Tensor):
            raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}")
