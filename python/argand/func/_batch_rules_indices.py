"""vmap's rules of gathers, scatters and indices."""
from .. import _C
from ._batch_rules import aligned, along_dims, check_slice, dim_of, loop, ranked, rule, target
from ._batched import offer_number


@rule("gather")
def _gather(level, op, arguments):
    check_slice(op, arguments)
    return along_dims(level, op, arguments, ("index",)) if _ranks_agree(arguments, "self", "index") else loop(level, op, arguments)


def _ranks_agree(arguments, *names):
    return all(arguments[n].dim() == arguments[names[0]].dim() > 0 for n in names)


@rule("scatter", "scatter_add", "scatter_reduce")
def _scatter(level, op, arguments):
    check_slice(op, arguments)
    more = ("index", "src") if "src" in arguments else ("index",)
    return along_dims(level, op, arguments, more) if _ranks_agree(arguments, "self", *more) else loop(level, op, arguments)


@rule("index_select")
def _index_select(level, op, arguments):
    t, index = arguments["self"], arguments["index"]
    indices = level.front(index)
    if t.dim() == 0 or index.dim() != 1:
        return loop(level, op, arguments)
    dim = dim_of(arguments["dim"], t.dim())
    if indices is None:
        return level.front(t).index_select(dim, index)
    if level.front(t) is None:
        return t.index_select(dim - 1, indices.reshape(-1)).unflatten(dim - 1, indices.shape).movedim(dim - 1, 0)
    return level.whole(t).gather(dim, _spread(indices, t.shape, dim))


def _spread(indices, shape, dim):
    """[B, n] as an index of gather() and scatter() along a dimension of the batch."""
    size = [indices.shape[0], *shape]
    size[dim] = indices.shape[1]
    return indices.view(indices.shape[0], *[1] * (dim - 1), -1, *[1] * (len(shape) - dim)).expand(size)


@rule("index_add", "index_copy")
def _index_write(level, op, arguments):
    t, index, source = arguments["self"], arguments["index"], arguments["source"]
    if t.dim() == 0 or index.dim() != 1 or source.dim() != t.dim():
        return loop(level, op, arguments)
    dim, indices = dim_of(arguments["dim"], t.dim()), level.front(index)
    if indices is None:
        return op({**arguments, "self": level.whole(t), "source": level.whole(source), "dim": dim})
    places, values = _spread(indices, source.shape, dim), level.whole(source)
    if op.name == "index_copy":
        return level.whole(t).scatter(dim, places, values)
    alpha = arguments.get("alpha", 1)
    return level.whole(t).scatter_add(dim, places, values if alpha == 1 else values * alpha)


@rule("index_fill")
def _index_fill(level, op, arguments):
    t, index, number = arguments["self"], arguments["index"], arguments["value"]
    if t.dim() == 0 or index.dim() != 1 or (isinstance(number, _C.Tensor) and level.front(number) is not None):
        return loop(level, op, arguments)
    dim, indices = dim_of(arguments["dim"], t.dim()), level.front(index)
    if indices is None:
        return op({**arguments, "self": level.whole(t), "dim": dim})
    places = _spread(indices, t.shape, dim)
    return level.whole(t).scatter(dim, places, number if not isinstance(number, _C.Tensor) else number.expand(places.shape))


@rule("take")
def _take(level, op, arguments):
    t, index = arguments["self"], arguments["index"]
    if level.front(t) is None:
        return t.take(level.front(index))
    flat, indices = level.whole(t).reshape(level.size, -1), level.whole(index)
    return flat.gather(1, _C.where(indices < 0, indices + t.numel(), indices).reshape(level.size, -1)).view(indices.shape)


@rule("embedding")
def _embedding(level, op, arguments):
    weight, indices = level.front(arguments["weight"]), arguments["indices"]
    if weight is None:
        return op({**arguments, "indices": level.front(indices)})
    rows = arguments["weight"].shape[0]
    return op({**arguments, "weight": weight.flatten(0, 1), "indices": _shifted(level, indices, rows), "padding_idx": -1})


def _shifted(level, indices, rows):
    """Indices into the rows of all slices."""
    first = _C.arange(level.size, device=indices.device, dtype=indices.dtype) * rows
    return level.whole(indices) + ranked(first, indices.dim())


@rule("embedding_dense_backward")
def _embedding_backward(level, op, arguments):
    rows, padding = arguments["num_weights"], arguments["padding_idx"]
    made = op({**arguments, "grad_output": level.whole(arguments["grad_output"]), "indices": _shifted(level, arguments["indices"], rows),
               "num_weights": level.size * rows, "padding_idx": -1}).unflatten(0, (level.size, rows))
    if 0 <= padding < rows:
        made[:, padding] = 0
    return made


def _places(indices):
    """(the number of dimensions that index tensors make, where they are in the result, whether that is before all others)"""
    at = [i for i, t in enumerate(indices) if t is not None]
    rank = max(indices[i].dim() for i in at)
    together = at == list(range(at[0], at[-1] + 1))
    return rank, at[0] if together else 0


def _for_all(level, indices):
    """(index tensors for the batch, with one for its dimension; the number of their dimensions besides the batch's)"""
    rank, at = _places(indices)
    values = [None if t is None else t if level.front(t) is None else ranked(level.front(t), rank) for t in indices]
    device = next(t for t in indices if t is not None).device
    batch = _C.arange(level.size, device=device).view(level.size, *[1] * rank)
    return [batch, *values], rank, at


def _has_mask(indices):
    return any(t is not None and t.dtype in (_C.bool, _C.uint8) for t in indices)


@rule("_index")
def _index(level, op, arguments):
    t, indices = arguments["self"], arguments["indices"]
    if all(i is None for i in indices):
        return _C.alias(level.whole(t))
    if _has_mask(indices):
        return loop(level, op, arguments)
    rank, at = _places(indices)
    if all(i is None or level.front(i) is None for i in indices):
        made = op({**arguments, "self": level.front(t), "indices": [None, *indices]})
        together = [i for i, x in enumerate(indices) if x is not None]
        return made if together == list(range(together[0], together[-1] + 1)) else made.movedim(rank, 0)
    values, rank, at = _for_all(level, indices)
    made = op({**arguments, "self": level.whole(t), "indices": values})
    if at == 0:
        return made
    return made.movedim(tuple(range(1, 1 + rank)), tuple(range(1 + at, 1 + at + rank)))


@rule("_index_put")
def _index_put(level, op, arguments):
    t, indices, source = arguments["self"], arguments["indices"], arguments["values"]
    if _has_mask(indices) or all(i is None for i in indices):
        return loop(level, op, arguments)
    values, rank, at = _for_all(level, indices)
    given = level.whole(source)
    full = t.dim() - sum(i is not None for i in indices) + rank
    given = ranked(given, full)
    if at > 0:
        given = given.movedim(tuple(range(1 + at, 1 + at + rank)), tuple(range(1, 1 + rank)))
    return op({**arguments, "self": level.whole(t), "indices": values, "values": given})


@rule("_index_put_")
def _index_put_in_place(level, op, arguments):
    value = target(level, arguments["self"], "index_put_")
    value.copy_(_index_put(level, op, arguments) if op.rule else loop(level, op, arguments))


@rule("searchsorted")
def _searchsorted(level, op, arguments):
    row, x = arguments["sorted_sequence"], arguments["self"]
    if arguments.get("sorter") is not None or not isinstance(x, _C.Tensor):
        return loop(level, op, arguments)
    if level.front(row) is None and row.dim() == 1:
        return op({**arguments, "self": level.front(x)})
    rows, xs = level.whole(row), level.whole(x)
    if row.dim() == 1:
        return op({**arguments, "sorted_sequence": rows, "self": xs.reshape(level.size, -1).contiguous()}).view(xs.shape)
    return op({**arguments, "sorted_sequence": rows.contiguous(), "self": xs.contiguous()})


@rule("nonzero", "masked_select", "_unique_rows", "where of its own sizes")
def _of_unknown_size(level, op, arguments):
    raise RuntimeError(f"vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{op.name}: the "
                       "slices' results would have different sizes.")


@rule("one_hot")
def _one_hot(level, op, arguments):
    n = arguments["num_classes"]
    if n <= 0:
        offer_number(level.batched(level.whole(arguments["self"])))
    return op({**arguments, "self": level.whole(arguments["self"])})


@rule("masked_fill")
def _masked_fill(level, op, arguments):
    t, number = arguments["self"], arguments["value"]
    if not isinstance(number, _C.Tensor) or level.front(number) is None:
        return op(aligned(level, arguments))
    if number.dim() > 0:
        raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {number.dim()} dimension(s).")
    given = aligned(level, {"mask": arguments["mask"], "self": t, "number": level.batched(level.front(number).to(t.dtype))})
    return _C.where(given["mask"], given["number"], given["self"])
