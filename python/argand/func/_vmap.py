"""vmap: a loop over slices, whose results are stacked.  The results are PyTorch's; the time is that of the loop."""
import functools

from .. import _C
from .._untyped_storage import _is_alias_of
from ..autograd import _vmap_levels
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_structure, tree_unflatten
from . import _rules

_vmap_levels.rules = _rules
RANDOMNESS = ("error", "different", "same")


def check_randomness(randomness):
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _has_slices(value):
    """Whether it is a tensor, or tensors of a package that are one (they have the method by which PyTorch's vmap knows them)."""
    return isinstance(value, _C.Tensor) or hasattr(type(value), "_add_batch_dim")


def _leaves(nest):
    return tree_flatten(nest, is_leaf=_has_slices)


def _spread(dims, spec):
    """`dims`, a number or a nest of numbers that begins like a nest of structure `spec`, as one number for each leaf; None if it
    does not begin so."""
    return _broadcast_to_and_flatten(tuple(dims) if isinstance(dims, list) and spec.type is tuple else dims, spec)


def _cut(value, dim, described):
    """How many slices a leaf of the arguments has, and the function that gives one; no number where it is not cut."""
    if dim is None:
        return None, lambda i: value
    if not isinstance(dim, int):
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
    if not _has_slices(value):
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for an input but the input is of type {type(value)}. We cannot vmap over "
                         "non-Tensor arguments, please use None as the respective in_dim")
    ndim = len(value.shape)
    if isinstance(dim, bool) or not -ndim <= dim < max(ndim, 1) or ndim == 0:
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so "
                         f"expected in_dim to satisfy {-ndim} <= in_dim < {ndim}.")
    slices = []

    def at(i):
        if not slices:
            slices.extend(value.unbind(dim))
        # A function of no slice still has results of some shape: that of zeros.
        return slices[i] if slices else value.new_zeros([n for d, n in enumerate(value.shape) if d != dim % ndim])
    return value.shape[dim], at


def _arguments(args, in_dims, name):
    """The number of slices, the function that gives the arguments of a call by its number and tells which are slices, and the tensors
    that are not cut."""
    described = f"vmap({name}, in_dims={in_dims}, ...)"
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(f"{described}(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                         f"inputs, got: {type(in_dims)}.")
    flat, spec = _leaves(tuple(args))
    if not args:
        raise ValueError(f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
                         "with no inputs. The latter is unsupported.")
    dims = _spread(in_dims, spec)
    if dims is None:
        raise ValueError(f"{described}(<inputs>): in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                         f"{tree_structure(in_dims)} but inputs has structure {spec}.")
    cuts = [_cut(x, d, described) for x, d in zip(flat, dims)]
    sizes = {n for n, _ in cuts if n is not None}
    if not sizes:
        raise ValueError(f"{described}(<inputs>): Expected at least one Tensor to vmap over: at least one of the inputs must have an in_dim "
                         "that is not None.")
    if len(sizes) != 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} "
                         "for the mapped dimension")

    def of_call(i, mark):
        given = [at(i) for _, at in cuts]
        for x, (size, _) in zip(given, cuts):
            if size is not None and isinstance(x, _C.Tensor):
                mark(x)
        return tree_unflatten(given, spec)

    def dims_of_batch():
        return tree_unflatten([d if d is None or not isinstance(x, _C.Tensor) else d % x.dim() for x, d in zip(flat, dims)], spec)
    mapped = [(x, d, at) for x, d, (_, at) in zip(flat, dims, cuts) if d is not None and isinstance(x, _C.Tensor)]
    return sizes.pop(), of_call, dims_of_batch, mapped, [x for x, (size, _) in zip(flat, cuts) if size is None and isinstance(x, _C.Tensor)]


def _check_written(t, first, randomness):
    """Raises an error if a call has written something else than the first one did."""
    if first is not None and (_C.equal(t, first) or _C.allclose(t, first, rtol=0, atol=0, equal_nan=True)):
        return
    if randomness == "different":
        raise RuntimeError("vmap: Cannot ask for different inplace randomness on an unbatched tensor: a tensor that is not mapped "
                           "cannot hold what each slice writes into it")
    raise RuntimeError("vmap: inplace arithmetic on a tensor that is not mapped is not possible: it cannot hold what each slice "
                       "writes into it")


class _Unmapped:
    """Tensors that are not cut, which all calls share: writing one must leave it the same, whichever call wrote it last."""

    def __init__(self, tensors, randomness):
        self._tensors, self._randomness, self._written = tensors, randomness, []
        self._versions = [t._version for t in tensors if not t.is_inference()]

    def after_first_call(self):
        tracked = [t for t in self._tensors if not t.is_inference()]
        self._written = [(t, t.detach().clone()) for t, version in zip(tracked, self._versions) if t._version != version]

    def check(self):
        for t, first in self._written:
            _check_written(t, first, self._randomness)


def _same(column):
    first = column[0]
    return all(x is first or (isinstance(x, _C.Tensor) and isinstance(first, _C.Tensor) and _C.equal(x, first)) for x in column)


def _moved(stacked, dim):
    return stacked if dim == 0 else stacked.movedim(0, dim)


def _view_of_argument(column, dim, mapped):
    """Results that are the same part of each slice of one argument, as a view of it, or itself if they are the slices; None if they are
    not such, or if they have histories of their own."""
    first = column[0]
    if not -first.dim() - 1 <= dim <= first.dim() or not all(type(y) is _C.Tensor and not y.requires_grad for y in column):
        return None
    for x, cut, slice_of in mapped:
        if type(x) is not _C.Tensor or x.requires_grad or x.dtype != first.dtype or not _is_alias_of(x, first):
            continue
        step, offset = x.stride(cut), first.storage_offset()
        if not all(_is_alias_of(x, y) and y.dtype == x.dtype and y.shape == first.shape and y.stride() == first.stride()
                   and y.storage_offset() == offset + i * step for i, y in enumerate(column)):
            return None
        if all(y is slice_of(i) for i, y in enumerate(column)) and dim % x.dim() == cut % x.dim():
            return x
        shape, strides = [len(column), *first.shape], [step, *first.stride()]
        return _moved(x.as_strided(shape, strides, offset), dim)
    return None


def _out_dims(out_dims, spec, name):
    """The dimension of the batch in each result."""
    for dim in tree_flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints representing "
                             "where in the outputs the vmapped dimension should appear.")
    dims = _spread(out_dims, spec)
    if dims is None and spec.num_leaves == 1 and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims = _spread(out_dims[0], spec)
    if dims is None:
        raise ValueError(f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
                         f"out_dims has structure {tree_structure(out_dims)} but outputs has structure {spec}.")
    return dims


def _joined(results, out_dims, n, name, mapped):
    """The results of the calls, as one nest."""
    _, spec = results[0]
    dims, joined = _out_dims(out_dims, spec, name), []
    for column, dim in zip(zip(*(flat for flat, _ in results)), dims):
        if dim is None:
            if not _same(column):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            joined.append(column[0])
            continue
        if not all(map(_has_slices, column)):
            raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(column[0])}. Did you mean to set "
                             "out_dims= to None for output?")
        view = _view_of_argument(column, dim, mapped) if n else None
        if view is not None:
            joined.append(view)
            continue
        stacked = _C.stack(column)
        joined.append(_moved(stacked if n else stacked[:0], dim))
    return tree_unflatten(joined, spec)


def _by_rule(rule, n, args, kwargs, in_dims, out_dims, name, randomness):
    """What a rule gives for the whole batch."""
    results, batch_dims, spec = _rules.call(rule, _rules.VmapInfo(n, randomness), in_dims, args, kwargs)
    joined = []
    for x, at, dim in zip(results, batch_dims, _out_dims(out_dims, spec, name)):
        if dim is None and at is not None:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        if dim is not None:
            if not _has_slices(x):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= to "
                                 "None for output?")
            x = _moved(x.expand(n, *x.shape), dim) if at is None else x.movedim(at, dim)
        joined.append(x)
    return tree_unflatten(joined, spec)


def _chunks(n, chunk_size):
    """The numbers of the calls whose random numbers are drawn together.  A function of no slice is called once, too."""
    n = max(n, 1)
    return [range(first, min(first + (chunk_size or n), n)) for first in range(0, n, chunk_size or n)]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for each slice of its arguments along in_dims, and stacks the results along out_dims.
    Arguments by keyword are given to every call as they are.

    randomness: "error" refuses random numbers within func, "same" gives each slice the same, and "different" gives each slice its own: those
    that one draw for all slices gives, in the order in which func draws.
    chunk_size: the most slices whose random numbers are drawn at once.  Nothing else depends on it: slices are computed one by one.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    return by_chunks(func, in_dims, out_dims, randomness, lambda n: chunk_size)


def by_chunks(func, in_dims, out_dims, randomness, chunk_size_of):
    """vmap, with a function that gives the size of a chunk for the number of slices, or None for all of them."""
    check_randomness(randomness)

    @functools.wraps(func)
    def call(*args, **kwargs):
        name = getattr(func, "__name__", repr(func))
        n, of_call, dims, mapped, shared = _arguments(args, in_dims, name)
        of_func = _rules.of(func)
        if of_func is not None:
            rule, bind = of_func
            places, names = bind(args, kwargs)
            more = tree_map(lambda x: None, places[len(args):])  # by keyword, or by default
            return _by_rule(rule, n, places, names, dims() + more, out_dims, name, randomness)
        shared, results = _Unmapped(shared, randomness), []
        with _C._Slices() as slices, _vmap_levels.level(slices, randomness):
            for chunk in _chunks(n, chunk_size_of(n) if randomness == "different" else None):
                with _C._DrawScope(randomness, slices, len(chunk), [(x, d % x.dim()) for x, d, _ in mapped]) as draws:
                    for i in chunk:
                        if i > 0:
                            slices.next_slice()
                        if i > chunk.start:
                            draws.next_slice()
                        results.append(_leaves(func(*of_call(i, slices.mark), **kwargs)))
                        if i == 0:
                            shared.after_first_call()
            if n > 1:
                for tensor, first in slices.written():
                    _check_written(tensor, first, randomness)
        shared.check()
        return _joined(results, out_dims, n, name, mapped)
    return call
