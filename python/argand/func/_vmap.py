"""vmap: runs a function once on tensors that stand for the slices of a batch.  docs/design/0020-vmap.md says how."""
import functools

from .. import _C, _dispatch
from ..autograd import _vmap_levels
from ..random import get_rng_state, set_rng_state
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map, tree_structure, tree_unflatten
from . import _batch_rules_indices, _batch_rules_layers, _batch_rules_making, _batch_rules_products, _batch_rules_views  # noqa: F401
from . import _batched, _rules
from ._batched import BatchedTensor, Level

_vmap_levels.rules, _dispatch.batched = _rules, _batched
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


def _checked_dim(value, dim, described):
    """The dimension of the slices of a leaf of the arguments, from its front; None where it is not cut."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
    if not _has_slices(value):
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for an input but the input is of type {type(value)}. We cannot vmap over "
                         "non-Tensor arguments, please use None as the respective in_dim")
    ndim = len(value.shape)
    if isinstance(dim, bool) or not -ndim <= dim < max(ndim, 1) or ndim == 0:
        raise ValueError(f"{described}(<inputs>): Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so "
                         f"expected in_dim to satisfy {-ndim} <= in_dim < {ndim}.")
    return dim % ndim


def _arguments(args, in_dims, name):
    """The number of slices, and the leaves of the arguments, the dimension of the slices in each, and their structure."""
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
    dims = [_checked_dim(x, d, described) for x, d in zip(flat, dims)]
    sizes = {x.shape[d] for x, d in zip(flat, dims) if d is not None}
    if not sizes:
        raise ValueError(f"{described}(<inputs>): Expected at least one Tensor to vmap over: at least one of the inputs must have an in_dim "
                         "that is not None.")
    if len(sizes) != 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} "
                         "for the mapped dimension")
    return sizes.pop(), flat, dims, spec


def _moved(stacked, dim):
    return stacked if dim == 0 else stacked.movedim(0, dim)


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


def _batch_of(level, y, dim, name):
    """A result of the function, for all slices."""
    y, is_tensor = level.bare(y), isinstance(y, _C.Tensor)
    value = level.front(y) if is_tensor else None
    if dim is None:
        if value is not None:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return y
    if is_tensor:
        if type(y) is BatchedTensor and y._level is level:
            at = dim if dim >= 0 else dim + y.dim() + 1
            return y._value if at == y._bdim else y._value.movedim(y._bdim, dim)
        return _moved(y.expand(level.size, *y.shape) if value is None else value, dim)
    if _has_slices(y):
        with _vmap_levels.levels.entered(level):
            return y._maybe_remove_batch_dim(name, vmap_level=level.number, batch_size=level.size, out_dim=dim)
    raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(y)}. Did you mean to set out_dims= to None for output?")


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


def _run(func, n, flat, dims, spec, kwargs, out_dims, name, randomness):
    """The results for one batch: their leaves, the dimension of the batch in each, and their structure."""
    level = Level(n, randomness, _vmap_levels.levels.depth + 1)

    def slices(x, dim):
        if dim is None:
            return x
        return level.batched(x, dim) if isinstance(x, _C.Tensor) else x._add_batch_dim(in_dim=dim, vmap_level=level.number)
    with level.run():
        results, out_spec = _leaves(func(*tree_unflatten([slices(x, d) for x, d in zip(flat, dims)], spec), **kwargs))
        dims = _out_dims(out_dims, out_spec, name)
        with _vmap_levels.levels.outside(level):
            return [_batch_of(level, y, d, name) for y, d in zip(results, dims)], dims, out_spec


def _run_chunks(size, run, n, flat, dims, randomness):
    """The same for a batch that is computed part by part."""
    parts, state = [], get_rng_state() if randomness == "same" else None
    for first in range(0, n, size):
        length = min(size, n - first)
        if state is not None and first > 0:
            set_rng_state(state)
        part = [x if d is None else x.narrow(d, first, length) for x, d in zip(flat, dims)]
        parts.append(run(length, part))
    columns = zip(*(results for results, _, _ in parts))
    _, out_dims, out_spec = parts[0]
    return [column[0] if d is None else _C.cat(column, d) for column, d in zip(columns, out_dims)], out_dims, out_spec


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that computes what func gives for each slice of its arguments along in_dims, stacked.  func runs once, for all slices.
    Arguments by keyword are given to it as they are.

    randomness: "error" refuses random numbers within func, "same" gives each slice the same, and "different" gives each slice its own: those
    that one draw for all slices gives, in the order in which func draws.
    chunk_size: the most slices that are computed at once.
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
        n, flat, dims, spec = _arguments(args, in_dims, name)
        of_func = _rules.of(func)
        if of_func is not None:
            rule, bind = of_func
            places, names = bind(args, kwargs)
            more = tree_map(lambda x: None, places[len(args):])  # by keyword, or by default
            return _by_rule(rule, n, places, names, tree_unflatten(dims, spec) + more, out_dims, name, randomness)

        def run(size, leaves):
            return _run(func, size, leaves, dims, spec, kwargs, out_dims, name, randomness)
        chunk = chunk_size_of(n)
        results, _, out_spec = run(n, flat) if chunk is None or chunk >= n else _run_chunks(chunk, run, n, flat, dims, randomness)
        return tree_unflatten(results, out_spec)
    return call
