"""How vmap's batches go through an op: rules that follow from the op's definition, and the calls that have no rule.

A rule is a function (level, op, arguments) that gives the results for the batch, whose dimension is the first.  Where it comes from:
  a pointwise op       its operands are aligned, so that the batch is a dimension as any other;
  an op along dims     the dims count from the one after the batch's;
  @rule("name", ...)   written down, by family: _batch_rules_products.py and the files beside it;
  a composite          needs none: the ops that it is made of have theirs;
  all others           run for each slice, with a warning that names the op (loop()).
"""
import warnings

from .. import _C
from .._dispatch import _flat
from ..autograd._vmap_levels import levels
from ..utils._pytree import tree_flatten, tree_map

RULES = {}      # by name, or by name and the names of the arguments where overloads differ
DRAWS = set()   # ops of random numbers
CONSTANT = {"new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided", "normal", "bernoulli", "one_hot", "where"}  # without a gradient
_MASKS = ("condition", "mask")  # operands that no dtype follows from
_DIMS = ("dim", "dims", "dim0", "dim1", "dim2", "dimension")


def rule(*names):
    """Says that a function is the rule of ops."""
    def add(function):
        for name in names:
            RULES[name] = function
        return function
    return add


class Same:
    """A result that is the same for all slices."""

    def __init__(self, value):
        self.value = value


class Op:
    """An op's definition, as far as rules need it."""

    def __init__(self, name, text, function, schema):
        self.name, self.text, self.function, self.schema = name, text, function, schema
        self.places = [a.name for a in schema.arguments if not a.kwarg_only and not a.is_out]
        self.keywords = [a.name for a in schema.arguments if a.kwarg_only]
        self.types = {a.name: a.type for a in schema.arguments}
        self.kind = _kinds().get(text, "composite")
        self.dims = [n for n in _DIMS if n in self.types and self.types[n].startswith("int")]
        self.tensors = [n for n, kind in self.types.items() if kind in ("Tensor", "Tensor?")]
        self.rule = RULES.get(name) or self._derived()

    def _derived(self):
        if self.kind == "pointwise":
            return pointwise
        if self.kind == "composite":
            return pointwise if "_polynomial_" in self.name else RULES.get(self.name + " of its own sizes")
        if self.kind in ("kernel", "view") and self.dims and len(self.tensors) == 1 and self.tensors[0] == self.places[0]:
            return along_dims
        return None

    def __call__(self, arguments, function=None):
        given = _flat(arguments, self.schema) if any(isinstance(v, dict) for v in arguments.values()) else arguments
        function, keywords = function or self.function, {n: given[n] for n in self.keywords if given.get(n) is not None}
        try:
            return function(*[given[n] for n in self.places], **keywords)
        except TypeError:
            numbers = [n for n in self.tensors if isinstance(given.get(n), (int, float, complex))]
            if not numbers:
                raise
        given = {**given, **{n: _C.tensor(given[n]) for n in numbers}}  # an operand that was a number on the way to here
        return function(*[given[n] for n in self.places], **keywords)

    @property
    def in_place(self):
        """The function of the form that writes its first argument."""
        name = self.name if self.name.endswith("_") else self.name + "_"
        return getattr(_C.Tensor, name)


_found = []


def _kinds():
    if not _found:
        _found.append(_C._op_kinds())
    return _found[0]


# ---- operands

def ranked(t, rank):
    """A batch with dimensions of size 1 after the batch's, as many as give each slice this rank."""
    for _ in range(rank + 1 - t.dim()):
        t = t.unsqueeze(1)
    return t


def joint_shape(*shapes):
    """What shapes broadcast to."""
    return _C.broadcast_tensors([_C.empty((), device="meta").expand(shape) for shape in shapes])[0].shape


def rank_of(values):
    return max((v.dim() for v in values if isinstance(v, _C.Tensor)), default=0)


def aligned(level, arguments, names=None):
    """The arguments with operands that broadcast as slices do: what all slices have stays, and the dimensions of batches follow theirs."""
    tensors = {n: v for n, v in arguments.items() if isinstance(v, _C.Tensor) and (names is None or n in names)}
    rank, out = rank_of(tensors.values()), dict(arguments)
    dims = [v.dtype for n, v in tensors.items() if v.dim() > 0 and n not in _MASKS]
    for n, v in tensors.items():
        value = level.front(v)
        if value is None:
            # A number that all slices have would weigh less than one of each slice.
            out[n] = v.reshape(1) if rank == 0 and v.dim() == 0 else v
            continue
        if v.dim() == 0 and dims and v.dtype != dims[0] and n not in _MASKS:
            value = value.to(_promoted(dims, v.dtype))
        out[n] = ranked(value, rank)
    return out


def _promoted(dims, number):
    """The dtype to which a number of each slice is cast, so that it weighs as a number does."""
    joint = dims[0]
    for d in dims[1:]:
        joint = _C.promote_types(joint, d)
    from .._functions import result_type
    made = result_type(_C.empty(1, dtype=joint), _C.empty((), dtype=number))
    return number if made != joint else joint


def pointwise(level, op, arguments):
    """The rule of pointwise ops."""
    return op(aligned(level, arguments))


def dim_of(d, rank):
    """A dimension of a slice as one of the batch."""
    rank = max(rank, 1)
    if not -rank <= d < rank:
        raise _C.IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {d})")
    return d % rank + 1


def along_dims(level, op, arguments, more=()):
    """The rule of ops along dimensions; `more` are the names of tensors with the same dimensions besides the first."""
    out, rank = dict(arguments), rank_of([arguments[n] for n in (op.places[0], *more)])
    for n in (op.places[0], *more):
        t = arguments[n]
        if not isinstance(t, _C.Tensor):
            continue
        value = level.front(t)
        value = t.expand(level.size, *t.shape) if value is None else value
        out[n] = ranked(value, max(rank, 1))
    of_number = rank == 0
    if of_number and op.name in ("transpose", "permute"):
        for d in (arguments[n] for n in op.dims):
            for one in [d] if isinstance(d, int) else d:
                dim_of(one, 0)
        return level.whole(arguments["self"])
    for n in op.dims:
        d = arguments.get(n)
        if isinstance(d, int):
            out[n] = dim_of(d, rank + (op.name == "unsqueeze"))
        elif d is None and not op.types[n].startswith("int["):
            out[op.places[0]] = out[op.places[0]].flatten(1)
            out[n] = 1
            return _kept(op(out), rank if arguments.get("keepdim") else 0, of_number)
        elif d is None or (not d and op.name not in ("permute", "flip")):
            out[n] = list(range(1, max(rank, 1) + 1))
        else:
            out[n] = [dim_of(one, rank) for one in d]
    if op.name == "permute":
        out["dims"] = [0, *out["dims"]]
    results = op(out)
    if not of_number or op.name == "unsqueeze":
        return results if op.name != "unsqueeze" or not of_number else results.squeeze(-1)
    return _kept(results, 0, True)


def _kept(results, rank, of_number):
    """Results with as many dimensions of size 1 after the batch's."""
    def one(t):
        t = t.reshape(t.shape[0], *t.shape[1:]) if not of_number else t.flatten()
        return ranked(t, rank)
    return one(results) if isinstance(results, _C.Tensor) else tuple(map(one, results))


def check_slice(op, arguments):
    """Raises what the op says of the sizes and dtypes of a slice; a batch of other sizes could be right by chance."""
    def like(v):
        return _C.empty_strided(v.shape, v.stride(), dtype=v.dtype, device="meta") if isinstance(v, _C.Tensor) else v
    op({n: [like(x) for x in v] if isinstance(v, list) else like(v) for n, v in arguments.items()})


def trailing(level, op, arguments):
    """The rule of ops on the last dimensions, in which others are batches."""
    return op({n: level.whole(v) if isinstance(v, _C.Tensor) else v for n, v in arguments.items()})


def _first(level, op, arguments):
    """The rule of ops on all elements of one tensor."""
    return op({n: level.whole(v) if isinstance(v, _C.Tensor) else v for n, v in arguments.items()})


# ---- in place, and into given tensors

def refuse_write(op, what=None):
    """Raises: slices are not written into a tensor that all slices have."""
    name = op.rstrip("_") + "_"
    what = what or name
    raise RuntimeError(f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements "
                       "than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use "
                       f"out-of-place operators instead of {what}. The op that would write is aten::{name}.")


def target(level, t, name, what=None):
    """The batch that an op writes; `what` it is called in errors."""
    value = level.front(t)
    if value is None:
        value = level.write(t)
    if value is None:
        refuse_write(name, what)
    return value


def in_place(level, op, arguments):
    """A call that writes its first argument."""
    first = op.places[0]
    special = RULES.get(op.name + "_") if not op.name.endswith("_") else op.rule
    if special is not None:
        special(level, op, arguments)
        return []
    if op.rule is pointwise:
        value = target(level, arguments[first], op.name, "inplace arithmetic")
        given = aligned(level, arguments)
        rank = arguments[first].dim()
        if rank_of(arguments.values()) > rank:
            refuse_shape(level, arguments, first)
        given[first] = ranked(value, rank)
        op(given, op.in_place)
        return []
    made = op.rule(level, op, arguments) if op.rule is not None else loop(level, op, arguments)
    target(level, arguments[first], op.name).copy_(made if isinstance(made, _C.Tensor) else made[0])
    return []


def refuse_shape(level, arguments, first):
    """The error of the op itself for operands that do not fit."""
    shapes = [tuple(v.shape) for v in arguments.values() if isinstance(v, _C.Tensor)]
    raise RuntimeError(f"output with shape {list(arguments[first].shape)} doesn't match the broadcast shape {list(joint_shape(*shapes))}")


def write_outs(level, op, arguments, outs):
    """A call with out=."""
    results = op.rule(level, op, arguments) if op.rule is not None else loop(level, op, arguments)
    for out, made in zip(outs, [results] if isinstance(results, _C.Tensor) else results):
        value = target(level, out, op.name)
        if value.shape != made.shape:
            raise RuntimeError(f"vmap: {op.name}: out: expected a tensor of sizes {list(made.shape[1:])}, got {list(out.shape)}")
        value.copy_(made)
    return []


# ---- ops without a rule

_warned = set()
_warnings_are_on = [True]


def _warn(name):
    if name in _warned or not _warnings_are_on[0]:
        return
    _warned.add(name)
    warnings.warn(f"There is a performance drop because we have not yet implemented the batching rule for {name}. It runs once for each slice of the "
                  "batch.", stacklevel=2)


def loop(level, op, arguments):
    """The op for each slice."""
    flat = _flat(arguments, op.schema) if any(isinstance(v, dict) for v in arguments.values()) else arguments
    return _stacked(level, op.name, lambda given: op(given), flat)


def slice_by_slice(level, name, function, args, kwargs):
    """The same of a function with these arguments, as a BatchedTensor."""
    def run(given):
        return function(*given[0], **given[1])
    with levels.outside(level):
        args, kwargs = tree_map(level.bare, (tuple(args), dict(kwargs)))
        made = _stacked(level, name, run, (args, kwargs))
    return tree_map(lambda t: level.batched(t) if isinstance(t, _C.Tensor) else t, made)


def _stacked(level, name, run, nest):
    _warn(name)
    leaves = [t for t in tree_flatten(nest)[0] if isinstance(t, _C.Tensor)]
    batches = {id(t): value.unbind(0) for t in leaves if (value := level.front(t)) is not None}
    empty = level.size == 0

    def at(i):
        def of(t):
            if not isinstance(t, _C.Tensor) or id(t) not in batches:
                return t
            return t._value.new_zeros(t.shape) if empty else batches[id(t)][i]
        return run(tree_map(of, nest))
    columns = [tree_flatten(at(i)) for i in range(max(level.size, 1))]
    results = []
    for column in zip(*(flat for flat, _ in columns)):
        if not isinstance(column[0], _C.Tensor):
            results.append(column[0])
        else:
            made = _C.stack(column)
            results.append(made[:0] if empty else made)
    return results[0] if len(results) == 1 else tuple(results)
