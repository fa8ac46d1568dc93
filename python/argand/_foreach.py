"""torch._foreach_*: an op on each of several tensors, for optimizers of other packages.  Each is the op in a loop: launches
are queued and chains fused, so one launch for all would gain nothing a program could see."""
from . import _C

Tensor = _C.Tensor
# Ops of one operand, and of two: the second is a number or tensor for all, or a list with one for each.
_UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round "
          "rsqrt sigmoid sign sin sinh sqrt tan tanh trunc").split()
_BINARY = "add clamp_max clamp_min div maximum minimum mul pow sub".split()
_TERNARY = "addcdiv addcmul".split()
_SAME_AS_CLAMP = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _each(value, count, name):
    """`value` once for each tensor; lists must be as long as there are tensors."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise RuntimeError(f"_foreach_{name}: expected lists of the same length, got {count} and {len(value)}")
    return value


def _first(tensors, name):
    if not isinstance(tensors, (list, tuple)) or not tensors:
        raise RuntimeError(f"_foreach_{name}: expected a list of tensors that is not empty")
    return len(tensors)


def _define(name, function):
    """torch._foreach_NAME from function(tensor, *operands) -> tensor, and the one that writes into its tensors."""
    def outside(self, *args, **kwargs):
        return tuple(function(self, name, *args, **kwargs))

    def inside(self, *args, **kwargs):
        for tensor, result in zip(self, function(self, name, *args, **kwargs)):
            tensor.copy_(result)
        return self
    return outside, inside


def _unary(op):
    def all_of(tensors, name):
        _first(tensors, name)
        return (op(t) for t in tensors)
    return all_of


def _binary(op):
    def all_of(tensors, name, other, alpha=None):
        others = _each(other, _first(tensors, name), name)
        return (op(t, o) if alpha is None else op(t, o, alpha=alpha) for t, o in zip(tensors, others))
    return all_of


def _bound(name):
    """maximum and minimum take numbers, too."""
    tensors, number = getattr(_C, name), getattr(_C, _SAME_AS_CLAMP.get(name, name))
    return lambda t, o: tensors(t, o) if isinstance(o, Tensor) else number(t, o)


def _pow(t, exponent):
    return t ** exponent


def _ternary(op):
    def all_of(tensors, name, tensor1, tensor2, value=1):
        count = _first(tensors, name)
        values = value.tolist() if isinstance(value, Tensor) and value.dim() else value
        parts = zip(tensors, _each(tensor1, count, name), _each(tensor2, count, name), _each(values, count, name))
        return (op(t, a, b, value=v.item() if isinstance(v, Tensor) else v) for t, a, b, v in parts)
    return all_of


def _lerp(tensors, name, ends, weight):
    count = _first(tensors, name)
    return (_C.lerp(t, e, w) for t, e, w in zip(tensors, _each(ends, count, name), _each(weight, count, name)))


def _norm(tensors, name, ord=2, dtype=None):
    _first(tensors, name)
    return (_C.linalg_vector_norm(t, ord, dtype=dtype) for t in tensors)


def _scalar_first(tensors, name, exponent):
    if isinstance(tensors, (list, tuple)):
        return (_pow(t, e) for t, e in zip(tensors, _each(exponent, _first(tensors, name), name)))
    return (tensors ** e for e in exponent)


def foreach_copy_(self, src, non_blocking=False):
    """Copies each of `src` into the tensor of `self` at its place."""
    for tensor, source in zip(self, _each(src, _first(self, "copy_"), "copy_")):
        tensor.copy_(source, non_blocking)
    return self


def foreach_zero_(self):
    """Fills each tensor with zeros."""
    for tensor in self:
        tensor.zero_()


def functions():
    """All of them by name: _foreach_add, _foreach_add_, ..."""
    rules = {name: _unary(getattr(_C, name)) for name in _UNARY}
    rules.update((name, _binary(_bound(name) if "m" in name[:3] or "clamp" in name else getattr(_C, name)))
                 for name in _BINARY if name != "pow")
    rules.update((name, _ternary(getattr(_C, name))) for name in _TERNARY)
    rules.update(lerp=_lerp, pow=_scalar_first, clone=_unary(_C.clone))
    found = {}
    for name, rule in rules.items():
        for suffix, function in zip(("", "_"), _define(name, rule)):
            function.__name__ = f"_foreach_{name}{suffix}"
            function.__doc__ = f"{name} of each of several tensors" + (", in place." if suffix else ", a tuple.")
            found[function.__name__] = function
    del found["_foreach_clone_"]
    found.update(_foreach_norm=_define("norm", _norm)[0], _foreach_max=_define("max", _unary(_C.max))[0],
                 _foreach_copy_=foreach_copy_, _foreach_zero_=foreach_zero_)
    return found
