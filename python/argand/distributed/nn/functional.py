"""Collectives with gradients, as torch.distributed.nn.functional: backward sends gradients to the processes that the values came from.

Each returns new tensors and leaves its arguments alone.  Backward is a collective, too, so all processes must run it, in the same order.
"""
from ... import _C
from ...autograd.function import Function
from .. import ReduceOp, group  # noqa: F401
from .. import _collectives as plain
from .._groups import _checked_group, get_group_rank

__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter"]


def _new(tensor):
    return tensor.detach().clone(memory_format=_C.contiguous_format)


def _root(rank, group):
    return get_group_rank(group, rank)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, tensor, src, group):
        ctx.src, ctx.group = src, group
        out = _new(tensor)
        plain.broadcast(out, group=group, group_src=src)
        return out

    @staticmethod
    def backward(ctx, grad):
        sum_ = _new(grad)
        plain.reduce(sum_, group=ctx.group, group_dst=ctx.src)
        return sum_ if ctx.group.rank() == ctx.src else _C.zeros_like(sum_), None, None


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, tensor, op, group):
        ctx.op, ctx.group = op, group
        out = _new(tensor)
        plain.all_reduce(out, op, group)
        return out

    @staticmethod
    def backward(ctx, grad):
        return _AllReduce.apply(grad, ctx.op, ctx.group), None, None


class _Reduce(Function):
    @staticmethod
    def forward(ctx, tensor, dst, op, group):
        ctx.dst, ctx.group = dst, group
        out = _new(tensor)
        plain.reduce(out, op=op, group=group, group_dst=dst)
        return out

    @staticmethod
    def backward(ctx, grad):
        return _Broadcast.apply(grad, ctx.dst, ctx.group), None, None, None


class _AllToAll(Function):
    """What goes to each process and comes from it; also of lists that only one process sends or gets."""

    @staticmethod
    def forward(ctx, group, shapes, *tensors):
        ctx.group, ctx.sent = group, [tuple(t.shape) for t in tensors]
        outputs = [_C.empty(shape, dtype=tensors[0].dtype, device=tensors[0].device) for shape in shapes]
        plain.all_to_all(outputs, [t.detach().contiguous() for t in tensors], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *grads):
        return (None, None, *_AllToAll.apply(ctx.group, ctx.sent, *[g.contiguous() for g in grads]))


def _shapes_from_all(tensors, group):
    """The shapes of what each process sends to this one."""
    from .._object_collectives import all_gather_object
    shapes = [None] * group.size()
    all_gather_object(shapes, [tuple(t.shape) for t in tensors], group)
    return [of_rank[group.rank()] for of_rank in shapes]


def broadcast(tensor, src, group=None):
    """The tensor of the process src, on all.  Its gradient is the sum of all processes'."""
    group = _checked_group(group)
    return _Broadcast.apply(tensor, _root(src, group), group)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """The reduction of all processes' tensors.  Each process's gradient is the reduction of all gradients by the same op."""
    return _AllReduce.apply(tensor, op, _checked_group(group))


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """The reduction of all processes' tensors on the process dst; the others get their own tensor back."""
    group = _checked_group(group)
    return _Reduce.apply(tensor, _root(dst, group), op, group)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """A tensor from each process, in the shapes of output_tensor_list, which is not written."""
    return _AllToAll.apply(_checked_group(group), [tuple(t.shape) for t in output_tensor_list], *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    """all_to_all() of rows of dimension 0; output gives the shape and is not written."""
    group = _checked_group(group)
    sizes = [list(split) if split else [t.shape[0] // group.size()] * group.size()
             for t, split in ((output, output_split_sizes), (input, input_split_sizes))]
    parts = _AllToAll.apply(group, [(n, *output.shape[1:]) for n in sizes[0]], *input.split(sizes[1]))
    return _C.cat(parts)


def all_gather(tensor, group=None):
    """The tensors of all, as a tuple.  The gradient of each process's is the sum over all processes."""
    group = _checked_group(group)
    own = [tensor] * group.size()
    return _AllToAll.apply(group, _shapes_from_all(own, group), *own)


def _all_gather_base(output_tensor, input_tensor, group=None):
    """all_gather() into one tensor, along dimension 0; output_tensor stays as it is."""
    return _C.cat(all_gather(input_tensor, group)).reshape(output_tensor.shape)


def gather(tensor, dst=0, group=None):
    """The tensors of all on the process dst, as a tuple; zeros of their shapes on the others."""
    group = _checked_group(group)
    dst = _root(dst, group)
    sent = [tensor if r == dst else tensor[:0] if tensor.dim() else tensor.new_zeros(0) for r in range(group.size())]
    outputs = _AllToAll.apply(group, _shapes_from_all(sent, group), *sent)
    # Zeros that lead to the collective, so that backward takes part in it.
    return outputs if group.rank() == dst else tuple(_C.zeros_like(tensor) + out.sum() for out in outputs)


def scatter(tensors, src=0, group=None):
    """One of the tensors of the process src; the others' say its shape."""
    group = _checked_group(group)
    src = _root(src, group)
    sent = list(tensors) if group.rank() == src else [t.reshape(-1)[:0] for t in tensors]
    return _AllToAll.apply(group, _shapes_from_all(sent, group), *sent)[src]


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """Reduces the lists of all processes element by element; each process gets one result.  output gives the shape and is not written."""
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise NotImplementedError(f"distributed.nn.functional.reduce_scatter: a gradient through {op!r} is not there; SUM and AVG are")
    group = _checked_group(group)
    parts = _AllToAll.apply(group, [tuple(output.shape)] * group.size(), *input_list)
    sum_ = parts[0]
    for part in parts[1:]:
        sum_ = sum_ + part
    return sum_ / group.size() if op == ReduceOp.AVG else sum_
