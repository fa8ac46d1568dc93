"""Functions that a program has registered for the library's own ops: Library("aten", "IMPL").impl("sum", function, "CPU")."""
import contextvars

from . import _C

_DEVICES = {"CPU": "cpu", "CUDA": "cuda", "Meta": "meta"}
_functions = {}  # by the name of the op, with or without its overload: [(library, device, function)], the last one is called
_running = contextvars.ContextVar("running", default=())


def add(library, op, function, key):
    """Has calls of an op of aten run a function."""
    if key not in _DEVICES:
        raise NotImplementedError(f"torch.library.Library.impl: aten: expected a function for one of {', '.join(_DEVICES)}, got {key!r}: there are no "
                                  "other keys that the library's own ops are dispatched by")
    name = op if isinstance(op, str) else op.name()
    _functions.setdefault(name.removeprefix("aten::"), []).append((library, _DEVICES[key], function))
    _C._offer_all(True)


def remove(library):
    """The functions of a library are registered no more."""
    for name in list(_functions):
        _functions[name] = [f for f in _functions[name] if f[0] is not library]
        if not _functions[name]:
            del _functions[name]
    _C._offer_all(bool(_functions))


def any_registered():
    """Whether a program has replaced an op."""
    return bool(_functions)


def find(op, tensors):
    """The function that runs in the place of an overload; None if there is none, or if it is that which calls the op."""
    name = op.name().removeprefix("aten::")
    for known in (name, op.overloadpacket.__name__):
        for _, device, function in reversed(_functions.get(known, ())):
            if function not in _running.get() and (not tensors or tensors[0].device.type == device):
                return function
    return None


def run(function, args, kwargs):
    """Calls it; the op that it calls in turn is the library's."""
    token = _running.set((*_running.get(), function))
    try:
        return function(*args, **kwargs)
    finally:
        _running.reset(token)
