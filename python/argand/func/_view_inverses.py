"""Inverses of views: the base with the elements of one of its views replaced, computed without a write.  See Note [Functional tensors]."""
import functools



def _scatter(name):
    def inverse(view, base, value):
        from ..library import ops
        return getattr(ops.aten, name).default(base, value, *view.args, **view.kwargs)
    return inverse


def _same_op(view, base, value):
    return view.func(value, *view.args, **view.kwargs)


def _view(view, base, value):
    try:
        return view.func(value, list(base.shape))
    except RuntimeError:  # strides that the inverse of the next view has left
        return view.func(value.contiguous(), list(base.shape))


def _permute(view, base, value):
    dims, back = [d % base.dim() for d in view.args[0]], [0] * base.dim()
    for i, d in enumerate(dims):
        back[d] = i
    return view.func(value, back)


def _split(view, base, value):
    from ..library import ops
    size, dim = view.args[0], (view.args[1] if len(view.args) > 1 else view.kwargs.get("dim", 0))
    sizes = size if isinstance(size, (list, tuple)) else [size] * (view.index + 1)
    start = sum(sizes[:view.index])
    return ops.aten.slice_scatter.default(base, value, dim, start, start + value.shape[dim], 1)


def _unbind(view, base, value):
    from ..library import ops
    dim = view.args[0] if view.args else view.kwargs.get("dim", 0)
    return ops.aten.select_scatter.default(base, value, dim, view.index)


def _of_unsqueeze(view, base, value):
    from ..library import ops
    return ops.aten.squeeze.dim(value, *view.args)


def _to_shape(view, base, value):
    from ..library import ops
    return ops.aten.view.default(value.contiguous(), list(base.shape))


def _identity(view, base, value):
    return value


_INVERSES = {
    "view": _view, "_unsafe_view": _view, "transpose": _same_op, "t": _same_op, "permute": _permute, "detach": _identity, "alias": _identity,
    "lift_fresh": _identity, "select": _scatter("select_scatter"), "slice": _scatter("slice_scatter"),
    "diagonal": _scatter("diagonal_scatter"), "as_strided": _scatter("as_strided_scatter"), "split": _split, "split_with_sizes": _split,
    "unbind": _unbind, "unsqueeze": _of_unsqueeze, "squeeze": _to_shape,
}


def inverse(view, base, value):
    """The base with the elements of view.of(base) replaced by those of `value`."""
    name = view.func.overloadpacket.__name__
    known = _INVERSES.get(name.removesuffix("_copy"))
    if known is not None:
        return known(view, base, value)
    changed = base.clone()
    plain = view.func
    if name.endswith("_copy"):
        from ..library import ops
        plain = getattr(getattr(ops.aten, name.removesuffix("_copy")), view.func._overloadname)
    result = plain(changed, *view.args, **view.kwargs)
    (result if view.index is None else result[view.index]).copy_(value)
    return changed


@functools.cache
def in_place_view(func):
    """The view of which an op such as transpose_() gives its argument the sizes; None for an op that is not such."""
    from ..library import ops
    name = func.overloadpacket.__name__
    if name not in ("unsqueeze_", "squeeze_", "transpose_", "t_", "as_strided_", "swapaxes_", "swapdims_", "detach_"):
        return None
    return getattr(getattr(ops.aten, name[:-1]), func._overloadname)


__all__ = ["in_place_view", "inverse"]
