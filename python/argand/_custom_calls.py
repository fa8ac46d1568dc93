"""Calls of the ops that torch.library.custom_op() makes.  Arguments must fit the schema, results must not share memory with other tensors,
and backward through an op without a gradient is an error."""
from . import _C
from .autograd.function import Function

_NO_FAKE = ("There was no fake impl registered for <CustomOpDef({})>. This is necessary for tensors of the device meta, and for tracing. "
            "Please use `{}.register_fake` to add an fake impl.")
_ALIAS = ("{} (with implementation in {}): The output of this custom operator (1) must not also be an input to this custom operator and "
          "(2) may not alias any inputs to this custom operator or other returns. The most common way to trigger this error is if we have "
          "y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return "
          "x.clone()) or refactor the custom operator to not return y.")


def tensors_in(values):
    """The tensors among values, and in lists and tuples of them."""
    for value in values:
        if isinstance(value, _C.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(value)


def _is_number(value, method):
    return value.numel() == 1 if isinstance(value, _C.Tensor) else hasattr(value, method)


_FITS = {"Tensor": lambda v: isinstance(v, _C.Tensor), "int": lambda v: _is_number(v, "__index__"),
         "float": lambda v: _is_number(v, "__float__"), "str": lambda v: isinstance(v, str)}


def _checked(schema, argument, place, value):
    kind = argument.type.replace("SymInt", "int")
    if value is None and kind.endswith("?"):
        return value
    kind = kind.removesuffix("?")
    fits = _FITS.get(kind)
    if kind.endswith("]") and kind.startswith("Tensor"):
        fits, kind = (lambda v: isinstance(v, (list, tuple)) and all(t is None or isinstance(t, _C.Tensor) for t in v)), "List[Tensor]"
    if fits is not None and not fits(value):
        raise RuntimeError(f"{schema.name}() Expected a value of type '{kind}' for argument '{argument.name}' but instead found type "
                           f"'{type(value).__name__}'.\nPosition: {place}\nValue: {value!r}\nDeclaration: {schema}")
    if kind in ("int", "float") and isinstance(value, _C.Tensor):
        return (int if kind == "int" else float)(value)
    return float(value) if kind == "float" and isinstance(value, int) else value


def bound(schema, args, kwargs):
    """The arguments in the places that the schema has; the last ones may be left out.  RuntimeError where one is missing, unknown or of
    another type."""
    places = [a for a in schema.arguments if not a.kwarg_only]
    if len(args) > len(places):
        raise RuntimeError(f"{schema.name}() expected at most {len(places)} argument(s) but received {len(args)} argument(s). "
                           f"Declaration: {schema}")
    given = {a.name: v for a, v in zip(places, args)}
    for name, value in kwargs.items():
        if all(name != a.name for a in schema.arguments):
            raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{schema.name}'. Schema: {schema}")
        if name in given:
            raise RuntimeError(f"{schema.name}() got two values for argument '{name}'. Declaration: {schema}")
        given[name] = value
    for place, a in enumerate(schema.arguments):
        if a.name in given:
            given[a.name] = _checked(schema, a, place, given[a.name])
        elif not a.has_default_value():
            raise RuntimeError(f"{schema.name}() is missing value for argument '{a.name}'. Declaration: {schema}")
    last = max((i + 1 for i, a in enumerate(places) if a.name in given), default=0)
    return (tuple(given.get(a.name, a.default_value) for a in places[:last]),
            {a.name: given[a.name] for a in schema.arguments if a.kwarg_only and a.name in given})


def unshared(op, function, args, kwargs, result):
    """The result, whose tensors share memory neither with arguments nor with each other.  RuntimeError otherwise."""
    seen = {_C._storage_id(t) for t in tensors_in((*args, *kwargs.values()))}
    for t in tensors_in((result,)):
        storage = _C._storage_id(t)
        if storage in seen and t.numel():
            raise RuntimeError(_ALIAS.format(op.__name__, getattr(function, "__module__", "?")))
        seen.add(storage)
    return result


def fake_of_none(op):
    """What stands for the function for tensors of the device meta, where register_fake() was not called."""
    def fake(*_, **__):
        if op._schema.returns:
            raise RuntimeError(_NO_FAKE.format(op._name, op.__name__))
    return fake


def without_gradient(op, call, tensors):
    """call(), whose results require grad if one of the tensors does; backward through them is an error that names the op."""
    tensors = [t for t in tensors if t.requires_grad] if _C.is_grad_enabled() else []
    if not tensors:
        return _without_history(call)

    def forward(ctx, *_):
        return call()

    def backward(ctx, *grads):
        raise RuntimeError(f"Trying to backward through {op} but no autograd formula was registered. Please use register_autograd to add "
                           "one.")
    name = "GeneratedBackwardFor_" + str(op).replace(".", "_")
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply(*tensors)


def _without_history(call):
    from .autograd.grad_mode import no_grad
    with no_grad():
        return call()
