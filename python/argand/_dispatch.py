"""Offers ops to TorchDispatchModes and to classes with a __torch_dispatch__ before they run.

C++ calls offer() and offer_number() (python/bindings/dispatch.cpp) where a mode is on or a tensor of such a class is among the
arguments.  docs/design/0015-dispatch-modes.md says what is offered under which name.
"""
import contextlib
import enum
import functools

from . import _C, _aten_overrides
from ._overloads import OpOverloadPacket, _tensors, find
from ._schemas import parse, schemas_of

MODES, BELOW_AUTOGRAD, OFF = 1, 2, 4  # bits of exec::DispatchHooks::state
_PLAIN, _IN_PLACE, _OUT = range(3)    # exec::OfferedCall::Form


class _TorchDispatchModeKey(enum.Enum):
    """The library's own kinds of modes: at most one of each is on, and the later ones are asked first."""

    FAKE, PROXY, FUNCTIONAL = range(3)


def modes():
    """The modes of this thread, the innermost last."""
    return _C._dispatch_modes()


def set_modes(new):
    """Other modes for this thread, in a list that does not change."""
    _C._set_dispatch_modes(new)


class StateOff:
    """A scope in which nothing is offered: PyTorch's _DisableTorchDispatch."""

    def __enter__(self):
        self._before = _C._set_dispatch_state(_C._dispatch_state() | OFF)

    def __exit__(self, *_):
        _C._set_dispatch_state(_C._dispatch_state() & ~OFF | self._before & OFF)


@contextlib.contextmanager
def above_autograd():
    """A scope in which autograd records, within __torch_dispatch__ too."""
    before = _C._set_dispatch_state(_C._dispatch_state() & ~BELOW_AUTOGRAD)
    try:
        yield
    finally:
        _C._set_dispatch_state(_C._dispatch_state() | before & BELOW_AUTOGRAD)


def _disabled_torch_dispatch_impl(func, types, args=(), kwargs=None):
    """The __torch_dispatch__ of Tensor: the op as it is, on the tensors' own memory."""
    with StateOff():
        return func(*args, **(kwargs or {}))


# ---- which overload a call is

# These take a number where the schema says Tensor: PyTorch makes a tensor of it on the way, and shows it as a number again.
_NUMBER_IS_TENSOR = frozenset(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "true_divide", "floor_divide", "multiply",
                               "divide", "subtract", "multiply_", "divide_", "subtract_", "floor_divide_"))
_NUMBERS = (bool, int, float, complex)
_CHECKS = {
    "Tensor": lambda v: isinstance(v, _C.Tensor), "Scalar": lambda v: isinstance(v, _NUMBERS),
    "int": lambda v: isinstance(v, int), "SymInt": lambda v: isinstance(v, int),
    "float": lambda v: isinstance(v, (int, float)), "bool": lambda v: isinstance(v, bool), "str": lambda v: isinstance(v, str),
    "ScalarType": lambda v: isinstance(v, _C.dtype), "Device": lambda v: isinstance(v, _C.device),
    "MemoryFormat": lambda v: isinstance(v, _C.memory_format), "Layout": lambda v: isinstance(v, _C.layout),
    "Generator": lambda v: isinstance(v, _C.Generator),
}


@functools.cache
def _check_of(kind):
    """A function that says whether a value fits a type of a schema."""
    if kind.endswith("?"):
        inner = _check_of(kind[:-1])
        return lambda v: v is None or inner(v)
    if kind.endswith("]"):
        inner = _check_of(kind[:kind.rindex("[")])
        return lambda v: isinstance(v, (list, tuple)) and all(map(inner, v))
    return _CHECKS.get(kind, lambda v: False)


def _fits(argument, value, number_is_tensor):
    if number_is_tensor and argument.type == "Tensor" and isinstance(value, _NUMBERS):
        return True
    return _check_of(argument.type)(value)


def _same(a, b):
    """Whether a value is a default: numbers of other kinds are not."""
    return type(a) is type(b) and a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and a == b
                                            and isinstance(a, bool) == isinstance(b, bool))


@functools.cache
def _own_schema(text):
    """The schema of the op's definition here, its TensorOptions as their four parts."""
    return parse(text.replace("Tensor|Scalar", "Tensor"), "argand")


def _packet(name):
    """torch.ops.aten.NAME."""
    return find("aten", name)


_ANY_TENSOR = _C.empty(0)  # stands for all tensors where a call's overload is remembered


def _choose(name, form, given, text):
    """(overload, schema) of aten that takes these arguments, best the one with the fewest of its own; None if there is none."""
    frozen = []
    for key, value in given.items():
        if isinstance(value, _C.Tensor):
            value = _ANY_TENSOR
        elif isinstance(value, list):
            value = tuple(_ANY_TENSOR if isinstance(v, _C.Tensor) else v for v in value)
        frozen.append((key, type(value[0] if isinstance(value, tuple) and value else value), value))
    return _chosen(name, form, text, tuple(frozen))


@functools.lru_cache(maxsize=4096)
def _chosen(name, form, text, frozen):
    given, own = {key: value for key, _, value in frozen}, _own_schema(text)
    defaults = {a.name: a for a in own.arguments}
    best = None
    for overload, schema in schemas_of(name).items():
        if any(a.is_out for a in schema.arguments) != (form == _OUT):
            continue
        if name in _NUMBER_IS_TENSOR and overload in ("Scalar", "Scalar_out"):
            continue  # those that PyTorch's Python has no call for
        taken = {a.name: a for a in schema.arguments if not a.is_out}
        for key, value in given.items():
            argument = taken.get(key)
            if argument is None:
                left_out = defaults.get(key)
                if value is not None and (left_out is None or not left_out.has_default or not _same(value, left_out.default_value)):
                    break
            elif not _fits(argument, value, name in _NUMBER_IS_TENSOR):
                break
        else:
            if any(a.name not in given and not a.has_default and a.type[-1] != "?" for a in taken.values()):
                continue
            cost = sum(key not in given for key in taken), len(taken)
            if best is None or cost < best[0]:
                best = cost, overload, schema
    return best and best[1:]


def _bind(schema, given, outs):
    """The arguments as PyTorch hands them on: defaults at the end are dropped."""
    args, kwargs, filled = [], {}, iter(outs)
    for a in schema.arguments:
        if a.is_out:
            kwargs[a.name] = next(filled)
        elif a.kwarg_only:
            if a.name in given and not (a.has_default and _same(given[a.name], a.default_value)):
                kwargs[a.name] = given[a.name]
        else:
            args.append(given.get(a.name, a.default_value))
    positional = [a for a in schema.arguments if not a.kwarg_only]
    while args and positional[len(args) - 1].has_default and _same(args[-1], positional[len(args) - 1].default_value):
        args.pop()
    return tuple(args), kwargs


def _flat(arguments, schema):
    """The arguments with their options one by one."""
    given = {}
    for name, value in arguments.items():
        if isinstance(value, dict):
            given.update(value)
        else:
            given[name] = value
    names = {a.name for a in schema.arguments}
    if "pin_memory" not in names or "device" not in names:
        return given
    like = given.get("self")
    if isinstance(like, _C.Tensor):  # PyTorch hands on what was said alone
        for name, same in (("dtype", like.dtype), ("device", like.device), ("layout", like.layout)):
            if name in given and given[name] == same:
                del given[name]
    else:
        given.setdefault("device", _C.device("cpu"))
    if "_to_copy" not in schema.name:
        given.setdefault("pin_memory", False)
    return given


def _convolution(given):
    dims = len(given["stride"])
    return {**given, "transposed": False, "output_padding": [0] * dims}


def _arange(given):
    step = given.pop("step", None)
    if step is not None:
        return {**given, "step": step}
    if given["start"] == 0 and isinstance(given["start"], int):
        del given["start"]
    return given


def _randint(given):
    if given.get("low") == 0:
        del given["low"]
    return given


def _one_dim(given):
    if isinstance(given.get("dim"), list) and len(given["dim"]) == 1:
        given["dim"] = given["dim"][0]
    return given


# Ops that are the parts of a composite here and have another name in aten, and what is to be added to their arguments.
_NAMES = {"_index": ("index", None), "_index_put": ("index_put", None), "_convolution_nd": ("convolution", _convolution),
          "arange": ("arange", _arange), "randint": ("randint", _randint), "any": ("any", _one_dim), "all": ("all", _one_dim)}


def _call_of(name, form, text, arguments, outs, may_be_whole):
    """(overload, args, kwargs); None where the op is to be shown as what it is made of."""
    own = _own_schema(text)
    given = _flat(arguments, own)
    in_aten, adapt = _NAMES.get(name, (name, None))
    if adapt is not None:
        given = adapt(given)
    if form == _IN_PLACE and not in_aten.endswith("_"):
        in_aten += "_"
    if in_aten in ("sub", "sub_") and isinstance(given["self"], _NUMBERS):  # 2 - x
        in_aten, given = "rsub", {**given, "self": given["other"], "other": given["self"]}
    chosen = _choose(in_aten, form, given, text) if "::" not in name else None
    if not may_be_whole(chosen and chosen[1]):
        return None
    if chosen is not None:
        overload, schema = chosen
        return (getattr(_packet(in_aten), overload), *_bind(schema, given, outs))
    packet = own_packet(name + "_" if form == _IN_PLACE and not name.endswith("_") else name, text)
    args, kwargs = _bind(own, given, ())
    if outs:
        kwargs["out"] = outs[0] if len(outs) == 1 else tuple(outs)
    return packet.default, args, kwargs


@functools.cache
def own_packet(name, text):
    """torch.ops.argand.NAME: an op that aten does not have."""
    namespace, _, short = name.rpartition("::")
    flat = name.replace("::", "_")
    function = getattr(_C, flat, None) or getattr(_C.Tensor, flat, None)
    if function is None:
        def function(*args, **kwargs):
            raise NotImplementedError(f"{name}: a part of an op of the library, which Python cannot call")
    return OpOverloadPacket(namespace or "argand", short, function, {"default": _own_schema(text)})


# ---- offers

batched = None  # func/_batched.py, once vmap() has been imported: no tensor stands for slices before


def _anybody(arguments, outs):
    """Whether a mode makes something of calls, or an argument intercepts them."""
    if any(not getattr(m, "only_watches", False) for m in _C._dispatch_modes()):
        return True
    values = (*arguments.values(), *outs)
    return any(_C._intercepts(t) for v in values for t in (v if isinstance(v, list) else (v,)) if isinstance(t, _C.Tensor))


def ask_custom(op, function, args, kwargs):
    """A call of an op that Python defined: function(*args, **kwargs), unless somebody makes something else of it."""
    state = _C._dispatch_state()
    if state & OFF or not (state & MODES or interceptors(args, kwargs)):
        return function(*args, **kwargs)
    _C._set_dispatch_state(state | BELOW_AUTOGRAD)
    try:
        result = _ask(op, args, kwargs)
    finally:
        _C._set_dispatch_state(state)
    return function(*args, **kwargs) if result is NotImplemented else result


def offer(name, form, text, whole, records, arguments, outs):
    """What the innermost mode, or a class among the arguments, makes of a call, as a list; NotImplemented: the op is to run, or,
    if it is made of others (`whole`), those are offered."""
    of_batch = None if batched is None else batched.offer(name, form, text, whole, records, arguments, outs)
    if of_batch is not None:
        return of_batch
    if not _anybody(arguments, outs) and not _aten_overrides.any_registered():
        return NotImplemented
    call = _call_of(name, form, text, arguments, outs,
                    lambda schema: not whole or not (records or schema is None or schema.is_composite))
    if call is None:
        return NotImplemented
    op, args, kwargs = call
    from ._decompositions import decomposition
    made = decomposition(op)
    result = made(*args, **kwargs) if made is not None and _anybody(arguments, outs) else _ask(op, args, kwargs)
    if result is NotImplemented and _aten_overrides.any_registered():
        function = _aten_overrides.find(op, _tensors(args, kwargs))
        if function is not None:
            result = _aten_overrides.run(function, args, kwargs)
    if result is NotImplemented or form != _PLAIN:
        return result if result is NotImplemented else []
    return _as_list(op, result)


def offer_number(tensor):
    """item() of a tensor."""
    if batched is not None:
        batched.offer_number(tensor)
    return _ask(_packet("_local_scalar_dense").default, (tensor,), {})


def offer_fresh(tensor):
    """A tensor that was made of Python's values."""
    result = _ask(_packet("lift_fresh").default, (tensor,), {})
    return tensor if result is NotImplemented else result


def depth_of(tensor):
    """How many transforms the function is in that this tensor, which intercepts, stands for a slice in; 0 for any other."""
    return 0 if batched is None else batched.depth_of(tensor)


def _as_list(op, result):
    returns = op._schema.returns
    if not returns:
        return []
    if len(returns) == 1 and not returns[0].type.endswith("]"):
        return [result]
    if not isinstance(result, (list, tuple)):
        raise TypeError(f"__torch_dispatch__ of {op}: expected a tuple or list of {len(returns)} results, got {type(result).__name__}")
    return list(result)


def interceptors(args, kwargs):
    """A tensor of each class that is asked, a subclass before its bases, else in the order of the arguments."""
    found = []
    for t in _tensors(args, kwargs):
        if not _C._intercepts(t) or any(type(t) is type(f) for f in found):
            continue
        at = next((i for i, f in enumerate(found) if issubclass(type(t), type(f))), len(found))
        found.insert(at, t)
    return found


def _ask(op, args, kwargs, name=None):
    asked = interceptors(args, kwargs)
    types = tuple(type(t) for t in asked)
    stack = _C._dispatch_modes()
    mode = stack[-1] if stack and not getattr(stack[-1], "only_watches", False) else None
    if mode is None and not asked:
        return NotImplemented
    if mode is not None:
        method = mode.__torch_dispatch__
        if getattr(method, "__self__", None) is type(mode):
            raise RuntimeError("__torch_dispatch__ of a mode: classmethod is not supported, please make it a plain method")
        set_modes(stack[:-1])
        try:
            result = method(op, types, args, kwargs)
        finally:
            set_modes(stack)
        if result is not NotImplemented:
            return result
    for t in asked:
        result = t.__torch_dispatch__(op, types, args, kwargs)
        if result is not NotImplemented:
            return result
    message = f"Multiple dispatch failed for 'torch.ops.{name or op}'; all __torch_dispatch__ handlers returned NotImplemented:\n"
    message += f"\n  - mode object {mode!r}" if mode is not None else ""
    raise TypeError(message + "".join(f"\n  - tensor subclass {type(t)!r}" for t in asked))


def slots_of(tensor):
    """The values of an object's __slots__."""
    found = {}
    for cls in type(tensor).__mro__:
        names = cls.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{cls.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(tensor, name):
                found[name] = getattr(tensor, name)
    return found


def init_subclass(cls, **kwargs):
    """A class with a __torch_dispatch__ of its own and no __torch_function__ is asked below alone."""
    super(_C.Tensor, cls).__init_subclass__(**kwargs)
    function = cls.__torch_function__
    if (cls.__torch_dispatch__ is not _disabled_torch_dispatch_impl
            and getattr(function, "__func__", None) is _C.Tensor.__torch_function__.__func__):
        cls.__torch_function__ = _C._disabled_torch_function_impl


_C._set_dispatcher(offer, offer_number, offer_fresh, depth_of, slots_of, _disabled_torch_dispatch_impl)
