"""torch._foreach_*: an op on each of several tensors.  Each calls the op in a loop: launches are queued and chains fused, so a single launch
for all tensors would gain nothing measurable."""
from . import _C

Tensor = _C.Tensor
_KINDS = {"Tensors": "tuple of Tensors", "Scalars": "tuple of Scalars", "Number": "Number", "Tensor": "Tensor"}


def _is_number(value):
    return isinstance(value, (int, float, complex)) or isinstance(value, Tensor) and value.dim() == 0 and not value.requires_grad


def _fits(kind, value):
    if kind == "Number":
        return _is_number(value)
    if kind == "Tensor":
        return isinstance(value, Tensor)
    if not isinstance(value, (list, tuple)):
        return False
    return all(isinstance(v, Tensor) for v in value) if kind == "Tensors" else all(map(_is_number, value))


class _Overload:
    """A way to call a function: "self:Tensors other:Tensors *alpha:Number=1", where * begins what is given by name alone."""

    def __init__(self, text):
        self.names, self.kinds, self.defaults, self.positional = [], [], {}, 0
        for word in text.split():
            name, kind = word.lstrip("*").split(":")
            kind, *default = kind.split("=")
            self.names.append(name)
            self.kinds.append(kind)
            self.positional += not word.startswith("*")
            if default:
                self.defaults[name] = {"None": None, "False": False}.get(default[0]) if not default[0].isdigit() else int(default[0])

    def bind(self, args, kwargs):
        """The arguments in order, or None where they do not fit."""
        if len(args) > self.positional or not kwargs.keys() <= set(self.names[len(args):]):
            return None
        given = {**self.defaults, **dict(zip(self.names, args)), **kwargs}
        if len(given) != len(self.names):
            return None
        values = [given[name] for name in self.names]
        fits = all(kind not in _KINDS or _fits(kind, value) for kind, value in zip(self.kinds, values))
        return values if fits else None

    def __str__(self):
        words = []
        for i, (name, kind) in enumerate(zip(self.names, self.kinds)):
            if i == self.positional:
                words.append("*")
            words.append(f"{_KINDS.get(kind, kind)} {name}" + (f" = {self.defaults[name]}" if name in self.defaults else ""))
        return f"({', '.join(words)})"


def _each(kind, value, count, name):
    """`value` once for each tensor."""
    if kind == "Tensors":
        if len(value) != count:
            raise RuntimeError(f"{name}: Tensor lists must have the same number of tensors, got {count} and {len(value)}")
        return value
    if kind == "Scalars":
        if len(value) != count:
            raise RuntimeError(f"{name}: Tensor list must have same number of elements as scalar list.")
        return value
    return [value] * count


def _number(value):
    return value.item() if isinstance(value, Tensor) else value


def _of_tensor(name, value):
    """An operand that is one tensor for all."""
    if value.dim() or value.numel() != 1:
        raise RuntimeError(f"{name}: scalar tensor expected to be 0 dim but it has {value.dim()} dimensions and {value.numel()} elements.")


def _of_packed(value, count):
    """Numbers that are elements of one tensor."""
    if value.dim() != 1:
        raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {value.dim()} instead.")
    if not value.is_contiguous():
        raise RuntimeError("Expected scalars to be contiguous.")
    if len(value) != count:
        raise RuntimeError(f"Expected length of scalars to match input of length {count} but got {len(value)} instead.")
    return value.tolist()


def _define(name, overloads, op):
    """The function of that name, which calls op(tensor, operands...) for each tensor, the results of which are a tuple; in place, and
    with the list itself as the result, where the name says so."""
    overloads = [_Overload("self:" + text if text.startswith("Number") else "self:Tensors " + text) for text in overloads]
    in_place = name.endswith("_")

    def function(*args, **kwargs):
        for overload in overloads:
            values = overload.bind(args, kwargs)
            if values is not None:
                break
        else:
            given = ", ".join([type(a).__name__ for a in args] + [f"{key}={type(a).__name__}" for key, a in kwargs.items()])
            raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), but expected "
                            + ("one of:" if len(overloads) > 1 else "") + "".join(f"\n * {overload}" for overload in overloads))
        first = overload.kinds.index("Tensors")
        count = len(values[first])
        if not count:
            raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
        parts = []
        for argument, kind, value in zip(overload.names, overload.kinds, values):
            if kind == "Tensor" and argument == "scalars":
                parts.append(_of_packed(value, count))
                continue
            if kind == "Tensor":
                _of_tensor(name, value)
            parts.append(_each(kind, value, count, name))
        results = [op(*operands) for operands in zip(*parts)]
        return values[0] if in_place else tuple(results)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name.strip('_').removeprefix('foreach_')} of each of several tensors" + (", in place." if in_place
                                                                                            else ", a tuple.")
    return function


def _method(name):
    """A method of the tensor by its name, found when it is called: subclasses have their own."""
    return lambda tensor, *operands: getattr(tensor, name)(*operands)


def _with_alpha(name):
    return lambda tensor, other, alpha=1: getattr(tensor, name)(other, alpha=_number(alpha))


def _with_value(name):
    return lambda tensor, tensor1, tensor2, value: getattr(tensor, name)(tensor1, tensor2, value=_number(value))


def _lerp(name):
    def op(tensor, tensor1, weight):
        kept = isinstance(weight, Tensor) and (weight.dim() or weight.requires_grad)
        return getattr(tensor, name)(tensor1, weight if kept else _number(weight))
    return op


def _max(tensor):
    if not tensor.numel():
        raise RuntimeError("_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined.")
    return tensor.max()


_UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round "
          "rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split()
_NUMBERS = ["scalar:Number", "scalars:Scalars"]
_BY_VALUE = ["tensor1:Tensors tensor2:Tensors " + last for last in ("scalars:Scalars", "value:Number=1", "scalars:Tensor")]
# {name: (ways to call, which have a second form that writes into its tensors, the op's method)}
_RULES = {
    "add": (["other:Tensor *alpha:Number=1", *_NUMBERS, "other:Tensors *alpha:Number=1"], "add", _with_alpha),
    "sub": ([*_NUMBERS, "other:Tensors *alpha:Number=1"], "sub", _with_alpha),
    "mul": (["other:Tensor", *_NUMBERS, "other:Tensors"], "mul", _method),
    "div": (["other:Tensor", *_NUMBERS, "other:Tensors"], "div", _method),
    **{name: ([*_NUMBERS, "other:Tensors"], "clamp_" + name[-3:], _method) for name in ("clamp_max", "clamp_min")},
    "maximum": ([*_NUMBERS, "other:Tensors"], "clamp_min", _method),
    "minimum": ([*_NUMBERS, "other:Tensors"], "clamp_max", _method),
    "pow": (["exponent:Number", "exponent:Scalars", "exponent:Tensors"], "pow", _method),
    "addcdiv": (_BY_VALUE, "addcdiv", _with_value),
    "addcmul": (_BY_VALUE, "addcmul", _with_value),
    "lerp": (["tensors1:Tensors " + last for last in ("weight:Number", "weight:Scalars", "weights:Tensors")], "lerp", _lerp),
}


def functions():
    """The functions of all foreach ops by name: _foreach_add, _foreach_add_, ..."""
    found = []
    for name in _UNARY:
        found.append(_define(f"_foreach_{name}", [""], _method(name)))
        found.append(_define(f"_foreach_{name}_", [""], _method(name + "_")))
    for name, (overloads, op, make) in _RULES.items():
        found.append(_define(f"_foreach_{name}_", overloads, make(op + "_")))
        more = ["Number exponent:Tensors"] if name == "pow" else []
        found.append(_define(f"_foreach_{name}", overloads + more, _C.pow if more else make(op)))
    found += [
        _define("_foreach_clone", ["*memory_format:memory_format=None"],
                lambda t, memory_format: t.clone(memory_format=memory_format or _C.preserve_format)),
        _define("_foreach_copy_", ["src:Tensors non_blocking:bool=False"], lambda t, src, non_blocking: t.copy_(src, non_blocking)),
        _define("_foreach_max", [""], _max),
        _define("_foreach_mm", ["mat2:Tensors"], _method("mm")),
        _define("_foreach_norm", ["ord:Number=2 dtype:dtype=None"], lambda t, ord, dtype: _C.linalg_vector_norm(t, ord, dtype=dtype)),
        _define("_foreach_powsum", ["ord:Number=2 dtype:dtype=None"],
                lambda t, ord, dtype: (t if dtype is None else t.to(dtype)).abs().pow(ord).sum()),
        _define("_foreach_zero_", [""], _method("zero_"))]
    return {function.__name__: function for function in found}
