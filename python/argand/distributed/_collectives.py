"""Collectives in the group of one process: each gives this process what it has itself."""
import pickle

from .. import _C
from .._ignored import harmless
from ..autograd.grad_mode import no_grad
from . import ReduceOp
from ._groups import _checked

_WHY_HARMLESS = "one process sends nothing"

__all__ = ["P2POp", "Work", "_all_gather_base", "_reduce_scatter_base", "all_gather", "all_gather_coalesced", "all_gather_into_tensor",
           "all_gather_object", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv",
           "broadcast", "broadcast_object_list", "gather", "gather_object", "irecv", "isend", "monitored_barrier", "recv",
           "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send",
           "send_object_list"]


class Work:
    """A collective under way: it is done already."""

    def __init__(self, result=()):
        self._result = list(result)

    def is_completed(self):
        """True."""
        return True

    is_success = is_completed

    @harmless(timeout="one process sends nothing")
    def wait(self, timeout=None):
        """True, at once."""
        return True

    def synchronize(self):
        """Nothing to wait for."""

    def exception(self):
        """None."""

    def result(self):
        """The tensors."""
        return self._result

    def get_future(self):
        """A Future of the tensors, which is done."""
        from ..futures import Future
        future = Future()
        future.set_result(self._result)
        return future


def _tensors(who, name, values, count=None):
    """Checks that values are tensors, as many as given."""
    if not isinstance(values, (list, tuple)) or not all(isinstance(t, _C.Tensor) for t in values):
        raise TypeError(f"{who}: expected {name} to be a list of tensors, got {type(values).__name__}")
    if count is not None and len(values) != count:
        raise ValueError(f"{who}: expected {name} to have a tensor for each process, {count}, got {len(values)}")


def _tensor(who, name, value):
    if not isinstance(value, _C.Tensor):
        raise TypeError(f"{who}: expected {name} to be a tensor, got {type(value).__name__}")


def _op(who, op):
    if op in (ReduceOp.PREMUL_SUM, ReduceOp.UNUSED) or not isinstance(op, ReduceOp.RedOpType):
        raise NotImplementedError(f"{who}: op: {op!r} is not done")


def _this_process(who, name, rank, group_rank):
    """Checks that a rank of the world, or one of the group, is this process, the only one."""
    if rank is not None and group_rank is not None:
        raise ValueError(f"{who}: can't specify both {name} and group_{name}")
    if rank not in (None, 0) or group_rank not in (None, 0):
        raise ValueError(f"{who}: expected {name} to be a rank of the group, 0, got {rank if group_rank is None else group_rank}")


def _copied(who, out, source):
    """out gets what source has; its shape may differ, not its size or dtype."""
    if out.dtype is not source.dtype:
        raise TypeError(f"{who}: expected tensors of one dtype, got {out.dtype} and {source.dtype}")
    if out.numel() != source.numel():
        raise ValueError(f"{who}: expected {source.numel()} elements in the output, got {out.numel()}")
    if out is not source:
        with no_grad():
            out.copy_(source.reshape(out.shape))


def _done(async_op, *tensors):
    return Work(tensors) if async_op else None


# ---- one tensor from all


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Joins the tensors of all processes: of one, it stays."""
    _tensor("all_reduce", "tensor", tensor)
    _op("all_reduce", op)
    return None if _checked(group) is None else _done(async_op, tensor)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """all_reduce() for one process."""
    _this_process("reduce", "dst", dst, group_dst)
    return all_reduce(tensor, op, group, async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce() of several tensors."""
    _tensors("all_reduce_coalesced", "tensors", tensors)
    _op("all_reduce_coalesced", op)
    return None if _checked(group) is None or not async_op else Work(tensors).get_future()


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """All get the tensor of a process."""
    _tensor("broadcast", "tensor", tensor)
    _this_process("broadcast", "src", src, group_src)
    return None if _checked(group) is None else _done(async_op, tensor)


# ---- lists of tensors, one for each process


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """All get the tensors of all."""
    _tensors("all_gather", "tensor_list", tensor_list, 1)
    _tensor("all_gather", "tensor", tensor)
    if _checked(group) is None:
        return None
    _copied("all_gather", tensor_list[0], tensor)
    return _done(async_op, *tensor_list)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather() of several tensors."""
    for outputs, tensor in zip(output_tensor_lists, input_tensor_list):
        all_gather(outputs, tensor, group)
    return Work(input_tensor_list).get_future() if async_op else None


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """All get the tensors of all, in one."""
    if _checked(group) is None:
        return None
    _copied("all_gather_into_tensor", output_tensor, input_tensor)
    return _done(async_op, output_tensor)


_all_gather_base = all_gather_into_tensor


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """One process gets the tensors of all."""
    _this_process("gather", "dst", dst, group_dst)
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Each gets one of the tensors of a process."""
    _this_process("scatter", "src", src, group_src)
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return reduce_scatter(tensor, scatter_list, group=group, async_op=async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Each gets one of what the tensors of all give when they are joined."""
    _tensors("reduce_scatter", "input_list", input_list, 1)
    return reduce_scatter_tensor(output, input_list[0], op, group, async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """reduce_scatter() of parts of one tensor."""
    _op("reduce_scatter_tensor", op)
    return all_gather_into_tensor(output, input, group, async_op)


_reduce_scatter_base = reduce_scatter_tensor


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Each gets a tensor of each."""
    _tensors("all_to_all", "output_tensor_list", output_tensor_list, 1)
    _tensors("all_to_all", "input_tensor_list", input_tensor_list, 1)
    return all_gather_into_tensor(output_tensor_list[0], input_tensor_list[0], group, async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """all_to_all() of parts of one tensor."""
    for name, sizes, t in (("output_split_sizes", output_split_sizes, output), ("input_split_sizes", input_split_sizes, input)):
        if sizes and list(sizes) != [t.shape[0]]:
            raise ValueError(f"all_to_all_single: expected {name} to be [{t.shape[0]}] for one process, got {list(sizes)}")
    return all_gather_into_tensor(output, input, group, async_op)


@harmless(device_ids="one process sends nothing", timeout="one process sends nothing")
def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Waits for all processes."""
    return None if _checked(group) is None else _done(async_op)


@harmless(timeout="one process sends nothing", wait_all_ranks="one process sends nothing")
def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier() that says who is missing."""
    _checked(group)


# ---- objects, pickled on their way


def _copy(obj):
    return pickle.loads(pickle.dumps(obj))


@harmless(weights_only="what one process pickles is its own")
def all_gather_object(object_list, obj, group=None, weights_only=False):
    """All get the objects of all."""
    if _checked(group) is not None:
        object_list[0] = _copy(obj)


@harmless(weights_only="what one process pickles is its own")
def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False):
    """One process gets the objects of all."""
    _this_process("gather_object", "dst", dst, group_dst)
    if object_gather_list is None:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    all_gather_object(object_gather_list, obj, group)


@harmless(object_list=_WHY_HARMLESS, device=_WHY_HARMLESS, weights_only=_WHY_HARMLESS)
def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, weights_only=False):
    """All get the objects of a process, which keeps its own."""
    _this_process("broadcast_object_list", "src", src, group_src)
    _checked(group)


@harmless(weights_only="what one process pickles is its own")
def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None,
                        weights_only=False):
    """Each gets one of the objects of a process."""
    _this_process("scatter_object_list", "src", src, group_src)
    if not scatter_object_input_list or len(scatter_object_input_list) != 1:
        raise ValueError("scatter_object_list: expected scatter_object_input_list to have an object for each process, 1")
    if _checked(group) is not None:
        scatter_object_output_list[0] = _copy(scatter_object_input_list[0])


# ---- from one to another, of which there is none


def _no_other(who, what):
    def call(*_, group=None, **__):
        _checked(group)
        raise ValueError(f"Invalid {what} rank: {what} rank should not be the same as the rank of the current process.")
    call.__name__ = call.__qualname__ = who
    call.__doc__ = "Raises ValueError: there is no other process."
    return call


send, isend, send_object_list = (_no_other(name, "destination") for name in ("send", "isend", "send_object_list"))
recv, irecv, recv_object_list = (_no_other(name, "source") for name in ("recv", "irecv", "recv_object_list"))


class P2POp:
    """A call of isend() or irecv() for batch_isend_irecv()."""

    @harmless(group_peer="one process sends nothing")
    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or ``torch.distributed.irecv``.")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


def batch_isend_irecv(p2p_op_list):
    """Begins several."""
    return [p.op(p.tensor, p.peer, group=p.group) for p in p2p_op_list]
