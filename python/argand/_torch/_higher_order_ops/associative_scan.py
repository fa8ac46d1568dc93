"""Partial results of an associative function, as sums are of cumsum()."""
from ... import _C
from ..._ignored import harmless
from ...utils import _pytree


@harmless(combine_mode="slices are combined, so a function of either kind is right")
def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """All partial results of combine_fn along a dimension: x0, x0 * x1, x0 * x1 * x2, ..., where combine_fn(a, b) is the associative a * b.

    xs: a tensor or a tree of them, all as long along dim.  With reverse they begin at the end.  Some 2 n elements are combined, in about
    2 log2(n) calls, each with slices along dim, so combine_fn works element by element.  The order in which is combined depends on n alone.
    """
    if not callable(combine_fn):
        raise ValueError(f"associative_scan: combine_fn must be callable, got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"associative_scan: combine_mode must be either 'pointwise' or 'generic', got {combine_mode}")
    leaves, spec = _pytree.tree_flatten(xs)
    if not leaves or not all(isinstance(x, _C.Tensor) for x in leaves):
        raise ValueError("associative_scan: xs must be a tensor or a tree of at least one, got "
                         f"{[type(x).__name__ for x in leaves]}")
    if not all(-x.dim() <= dim < x.dim() for x in leaves):
        raise IndexError(f"associative_scan: dim {dim} is out of range for tensors of shapes {[list(x.shape) for x in leaves]}")
    lengths = {x.shape[dim] for x in leaves}
    if len(lengths) > 1:
        raise ValueError(f"associative_scan: expected tensors as long along dim {dim}, got {[list(x.shape) for x in leaves]}")
    dims = [dim % x.dim() for x in leaves]

    def combine(a, b):
        out, of = _pytree.tree_flatten(combine_fn(_pytree.tree_unflatten(a, spec), _pytree.tree_unflatten(b, spec)))
        if of != spec:
            raise RuntimeError(f"associative_scan: combine_fn must give what it takes, {spec}, got {of}")
        return out

    def slices(xs, *which):
        return [x[(slice(None),) * d + (slice(*which),)] for x, d in zip(xs, dims)]

    def scan(xs):
        n = xs[0].shape[dims[0]]
        if n < 2:
            return xs
        # Pairs, half as many; each element at an even place is then combined with the pairs before it.
        odd = scan(combine(slices(xs, 0, n - 1, 2), slices(xs, 1, None, 2)))
        first = slices(xs, 0, 1)
        even = first if n == 2 else [_C.cat([f, e], d) for f, e, d in zip(
            first, combine(slices(odd, 0, (n - 1) // 2), slices(xs, 2, None, 2)), dims)]
        return [_interleaved(e, o, d) for e, o, d in zip(even, odd, dims)]

    if reverse:
        leaves = [x.flip([d]) for x, d in zip(leaves, dims)]
    out = scan(leaves)
    if reverse:
        out = [x.flip([d]) for x, d in zip(out, dims)]
    return _pytree.tree_unflatten(out, spec)


def _interleaved(even, odd, dim):
    """Elements of both in turn along dim; even may have one more."""
    n = odd.shape[dim]
    both = _C.stack([even.narrow(dim, 0, n), odd], dim + 1).flatten(dim, dim + 1)
    return both if even.shape[dim] == n else _C.cat([both, even.narrow(dim, n, 1)], dim)
