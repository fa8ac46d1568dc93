"""Collectives and messages of tensors.  Ranks are those of the world, or of the group where an argument is named group_*."""
import contextlib
import threading

from .. import _C
from .._ignored import harmless
from . import ReduceOp
from ._group_calls import reduction as _op
from ._groups import _checked, _get_default_group, get_group_rank, get_process_group_ranks, member
from ._work import Work, Works

__all__ = ["P2POp", "Work", "_all_gather_base", "_broadcast_coalesced", "_coalescing_manager", "_make_nccl_premul_sum",
           "_reduce_scatter_base", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_single", "all_reduce",
           "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "gather",
           "gather_into_tensor", "gather_single", "irecv", "isend", "monitored_barrier", "recv", "reduce", "reduce_scatter",
           "reduce_scatter_single", "reduce_scatter_tensor", "scatter", "send"]


def check_tensors(who, name, values):
    """TypeError unless values is a list of tensors."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(t, _C.Tensor) for t in values):
        raise TypeError(f"Invalid function argument. {who}: expected {name} to be a list of tensors, got {type(values).__name__}")


def check_tensor(who, name, value):
    """TypeError unless value is a tensor."""
    if not isinstance(value, _C.Tensor):
        raise TypeError(f"Invalid function argument. {who}: expected {name} to be a tensor, got {type(value).__name__}")


class _Premultiplied:
    """ReduceOp.PREMUL_SUM with its factor."""

    op = ReduceOp.PREMUL_SUM

    def __init__(self, factor):
        self.factor = float(factor)


def _make_nccl_premul_sum(factor):
    """A ReduceOp that multiplies each process's values by a factor before the sum."""
    return _Premultiplied(factor)


def rank_of_group(who, name, group, rank, group_rank, default=None):
    """The rank in the group of a rank of the world, or of one of the group."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"{who}: can't specify both {name} and group_{name}")
    if group_rank is not None:
        if not 0 <= group_rank < group.size():
            raise ValueError(f"{who}: expected group_{name} to be a rank of the group, 0 to {group.size() - 1}, got {group_rank}")
        # harmless(default): a rank is given
        return int(group_rank)
    if rank is None:
        if default is None:
            raise ValueError(f"Must specify {name} or group_{name}")
        rank = default
    # harmless(default): it is `rank` where none is given
    return get_group_rank(group, int(rank))


def finish(work, async_op):
    """The work itself if it may go on, None once it is finished; inside of _coalescing_manager() it may always go on."""
    begun = getattr(_coalescing, "works", None)
    if begun is not None:
        begun.append(work)
    if async_op:
        return work
    if begun is None:
        work.wait()
    return None


_coalescing = threading.local()  # .works: what this thread has begun inside of _coalescing_manager()


@harmless(group="a collective has its own group", device="a collective runs where its tensors are")
@contextlib.contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """A scope whose collectives do not wait for each other.  Its end waits for all, or, with async_ops, wait() of what it gives does."""
    if getattr(_coalescing, "works", None) is not None:
        raise ValueError("ProcessGroup has non-empty op list at the start of coalescing")
    works = _coalescing.works = Works([])
    try:
        yield works
    finally:
        _coalescing.works = None
    if not async_ops:
        works.wait()


# ---- one tensor from all


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduces the tensors of all processes, of one shape and dtype, in place: all have the result afterwards."""
    check_tensor("all_reduce", "tensor", tensor)
    op = _op("all_reduce", op)
    group = member("all_reduce", group)
    return None if group is None else finish(group.start("all_reduce", *op, [tensor]), async_op)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """all_reduce() whose result only the process dst gets; the others' tensors stay as they are."""
    check_tensor("reduce", "tensor", tensor)
    op = _op("reduce", op)
    group = member("reduce", group)
    if group is None:
        return None
    dst = rank_of_group("reduce", "dst", group, dst, group_dst)
    return finish(group.start("reduce", *op, [tensor], dst), async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce() of several tensors."""
    tensors = [tensors] if isinstance(tensors, _C.Tensor) else tensors
    check_tensors("all_reduce_coalesced", "tensors", tensors)
    op = _op("all_reduce_coalesced", op)
    group = member("all_reduce_coalesced", group)
    if group is None:
        return None
    work = group.start("all_reduce", *op, list(tensors))
    return work.get_future() if async_op else finish(work, False)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """All processes get the tensor of the process src; shapes and dtypes must be equal."""
    check_tensor("broadcast", "tensor", tensor)
    group = member("broadcast", group)
    if group is None:
        return None
    src = rank_of_group("broadcast", "src", group, src, group_src)
    return finish(group.start("broadcast", [tensor], src), async_op)


@harmless(buffer_size="all tensors are one collective")
def _broadcast_coalesced(process_group, tensors, buffer_size, src=0):
    """broadcast() of several tensors; src: a rank of the group."""
    check_tensors("_broadcast_coalesced", "tensors", tensors)
    process_group.start("broadcast", list(tensors), src).wait()


# ---- lists of tensors, one for each process


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """All processes get the tensors of all.  Shapes may differ between processes; the lists must be alike everywhere."""
    check_tensors("all_gather", "tensor_list", tensor_list)
    check_tensor("all_gather", "tensor", tensor)
    group = member("all_gather", group)
    return None if group is None else finish(group.start("all_gather", list(tensor_list), tensor), async_op)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather() of several tensors: output_tensor_lists[r][i] becomes input_tensor_list[i] of process r."""
    check_tensors("all_gather_coalesced", "input_tensor_list", input_tensor_list)
    group = member("all_gather_coalesced", group)
    if group is None:
        return None
    works = [group.start("all_gather", [outputs[i] for outputs in output_tensor_lists], tensor)
             for i, tensor in enumerate(input_tensor_list)]
    if async_op:
        from ..futures import collect_all
        return collect_all([work.get_future() for work in works])
    for work in works:
        work.wait()
    return None


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """All processes get the tensors of all, one after the other in output_tensor."""
    check_tensor("all_gather_into_tensor", "output_tensor", output_tensor)
    check_tensor("all_gather_into_tensor", "input_tensor", input_tensor)
    group = member("all_gather_into_tensor", group)
    return None if group is None else finish(group.start("all_gather_into", output_tensor, input_tensor), async_op)


_all_gather_base = all_gather_single = all_gather_into_tensor


def _list_of_root(name, side, values, is_root):
    """Checks the list of tensors that only the root process, which sends or receives them, must give."""
    if is_root:
        if not values:
            raise ValueError(f"Argument ``{name}`` must be specified on {side} rank.")
        check_tensors(name.split("_")[0], name, values)
        return list(values)
    if values:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{side} ranks.")
    return []


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """The process dst gets the tensors of all."""
    check_tensor("gather", "tensor", tensor)
    group = member("gather", group)
    if group is None:
        return None
    dst = rank_of_group("gather", "dst", group, dst, group_dst, default=0)
    outputs = _list_of_root("gather_list", "destination", gather_list, group.rank() == dst)
    return finish(group.start("gather", outputs, tensor, dst), async_op)


def gather_single(tensor, gather_tensor=None, dst=None, group=None, async_op=False, group_dst=None):
    """gather() into the parts of one tensor: the tensors of all, one after the other."""
    check_tensor("gather_single", "tensor", tensor)
    parts = None
    if gather_tensor is not None:
        check_tensor("gather_single", "gather_tensor", gather_tensor)
        found = member("gather_single", group)
        if found is None:
            return None
        if gather_tensor.numel() != found.size() * tensor.numel() or not gather_tensor.is_contiguous():
            raise ValueError(f"gather_single: expected gather_tensor to be contiguous and to have {found.size()} x {tensor.numel()} elements, "
                             f"got sizes {tuple(gather_tensor.shape)}, strides {gather_tensor.stride()}")
        parts = list(gather_tensor.view(found.size(), *tensor.shape).unbind())
    return gather(tensor, parts, dst, group, async_op, group_dst)


gather_into_tensor = gather_single


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Each process gets one of the tensors of the process src."""
    check_tensor("scatter", "tensor", tensor)
    group = member("scatter", group)
    if group is None:
        return None
    src = rank_of_group("scatter", "src", group, src, group_src, default=0)
    inputs = _list_of_root("scatter_list", "source", scatter_list, group.rank() == src)
    return finish(group.start("scatter", tensor, inputs, src), async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Reduces the lists of all processes element by element; each process gets one of the results."""
    check_tensor("reduce_scatter", "output", output)
    check_tensors("reduce_scatter", "input_list", input_list)
    op = _op("reduce_scatter", op)
    group = member("reduce_scatter", group)
    return None if group is None else finish(group.start("reduce_scatter", *op, output, list(input_list)), async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """reduce_scatter() of equal parts of one tensor."""
    check_tensor("reduce_scatter_tensor", "output", output)
    check_tensor("reduce_scatter_tensor", "input", input)
    op = _op("reduce_scatter_tensor", op)
    group = member("reduce_scatter_tensor", group)
    return None if group is None else finish(group.start("reduce_scatter_from", *op, output, input), async_op)


_reduce_scatter_base = reduce_scatter_single = reduce_scatter_tensor


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Each process gets a tensor from each: output_tensor_list[r] becomes the tensor that process r sends to this one."""
    check_tensors("all_to_all", "output_tensor_list", output_tensor_list)
    check_tensors("all_to_all", "input_tensor_list", input_tensor_list)
    group = member("all_to_all", group)
    return None if group is None else finish(group.start("all_to_all", list(output_tensor_list), list(input_tensor_list)), async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """all_to_all() of rows of dimension 0: equal parts, or as many as the split sizes say."""
    check_tensor("all_to_all_single", "output", output)
    check_tensor("all_to_all_single", "input", input)
    group = member("all_to_all_single", group)
    if group is None:
        return None
    splits = [list(map(int, sizes or ())) for sizes in (output_split_sizes, input_split_sizes)]
    return finish(group.start("all_to_all_single", output, input, *splits), async_op)


@harmless(device_ids="a barrier is the host's")
def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Waits for all processes.  timeout: a timedelta, the group's if not given; after it all raise a DistBackendError that names the missing."""
    group = member("barrier", group)
    if group is None:
        return None
    return finish(group.start("barrier", timeout=timeout), async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier() through the store, in which rank 0 reports which ranks are missing after the timeout: the first of them, or all."""
    group = member("monitored_barrier", group)
    if group is not None:
        group.monitored_barrier(timeout, wait_all_ranks)


# ---- from one to another


def _other(who, what, name, group, rank, group_rank):
    found = rank_of_group(who, name, group, rank, group_rank)
    if found == group.rank():
        raise ValueError(f"Invalid {what} rank: {what} rank should not be the same as the rank of the current process.")
    return found


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Begins to send a tensor; returns a Work.  The tensor must not be written until the work is finished."""
    check_tensor("isend", "tensor", tensor)
    group = member("isend", group)
    return None if group is None else group.start("send", tensor, _other("isend", "destination", "dst", group, dst, group_dst), tag)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Begins to receive a tensor of the sender's size and dtype; returns a Work.  src=None: from any process."""
    check_tensor("irecv", "tensor", tensor)
    group = member("irecv", group)
    if group is None:
        return None
    anybody = src is None and group_src is None
    return group.start("receive", tensor, -1 if anybody else _other("irecv", "source", "src", group, src, group_src), tag)


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends a tensor."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives a tensor of the sender's size and dtype; returns the sender's rank in the world, or -1 outside the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return get_process_group_ranks(group)[work.source_rank()]


class P2POp:
    """A call of isend() or irecv() for batch_isend_irecv()."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``.")
        check_tensor("P2POp", "tensor", tensor)
        if peer is None and group_peer is None:
            raise ValueError("P2POp: must specify peer or group_peer")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        found = _checked(group) or _get_default_group()
        self.group_peer = rank_of_group("P2POp", "peer", found, peer, group_peer)
        self.peer = get_process_group_ranks(found)[self.group_peer]

    def __repr__(self):
        return f"P2POp({self.op.__name__}, peer={self.peer}, shape={tuple(self.tensor.shape)}, dtype={self.tensor.dtype})"


def batch_isend_irecv(p2p_op_list):
    """Begins several sends and receives; returns their Works."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    return [work for p in p2p_op_list if (work := p.op(p.tensor, p.peer, p.group, p.tag)) is not None]
