"""Collectives as methods of a group, with c10d's option objects; the functions of torch.distributed call them."""
from datetime import timedelta

from . import ReduceOp
from ._monitored_barrier import monitored_barrier
from ._work import Works

_UNSET = timedelta(milliseconds=-1)  # the group's timeout


def _options(name, doc, **defaults):
    """A class of options with these attributes.  asyncOp, device and device_ids are hints: calls return before their work is done."""

    def __init__(self):
        for attribute, value in {**defaults, "timeout": _UNSET, "asyncOp": True}.items():
            setattr(self, attribute, value)

    return type(name, (), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


AllreduceOptions = _options("AllreduceOptions", "Of allreduce().", reduceOp=ReduceOp.SUM)
AllreduceCoalescedOptions = _options("AllreduceCoalescedOptions", "Of allreduce_coalesced().", reduceOp=ReduceOp.SUM)
BroadcastOptions = _options("BroadcastOptions", "Of broadcast().  rootTensor: which of the root's tensors.", rootRank=0, rootTensor=0)
ReduceOptions = _options("ReduceOptions", "Of reduce().", reduceOp=ReduceOp.SUM, rootRank=0, rootTensor=0)
AllgatherOptions = _options("AllgatherOptions", "Of allgather().")
GatherOptions = _options("GatherOptions", "Of gather().", rootRank=0)
ScatterOptions = _options("ScatterOptions", "Of scatter().", rootRank=0)
ReduceScatterOptions = _options("ReduceScatterOptions", "Of reduce_scatter().", reduceOp=ReduceOp.SUM)
AllToAllOptions = _options("AllToAllOptions", "Of alltoall().")
BarrierOptions = _options("BarrierOptions", "Of barrier().", device_ids=None, device=None)

__all__ = ["AllToAllOptions", "AllgatherOptions", "AllreduceCoalescedOptions", "AllreduceOptions", "BarrierOptions", "BroadcastOptions",
           "GatherOptions", "ReduceOptions", "ReduceScatterOptions", "ScatterOptions"]


_DEFAULTS = {"root": 0, "op": ReduceOp.SUM, "timeout": None}
_ATTRIBUTES = {"root": "rootRank", "op": "reduceOp", "timeout": "timeout"}


def _values(who, names, opts, args, given):
    """The values of these names: from the options of the call, or by place and name."""
    if hasattr(opts, "asyncOp"):
        if args or given:
            raise TypeError(f"{who}: expected options, or {', '.join(names)}, got both")
        values = {name: getattr(opts, _ATTRIBUTES[name]) for name in names if hasattr(opts, _ATTRIBUTES[name])}
    else:
        places = [] if opts is None and not args else [opts, *args]
        if len(places) > len(names):
            raise TypeError(f"{who}: expected at most {len(names)} of {', '.join(names)}, got {len(places)}")
        values = dict(zip(names, places))
        for name, value in given.items():
            if name not in names or name in values:
                raise TypeError(f"{who}: {'more than one value for' if name in values else 'no argument'} {name!r}")
            values[name] = value
    values = [values.get(name, _DEFAULTS[name]) for name in names]
    if values[-1] == _UNSET:  # timeout, the last of all
        values[-1] = None
    return values if len(values) > 1 else values[0]


def _list(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def _only(who, what, values):
    """What a list of one holds: a process has one tensor, or one list of them."""
    if not isinstance(values, (list, tuple)):
        return values
    if len(values) != 1:
        raise ValueError(f"{who}: expected one {what}, got {len(values)}")
    return values[0]


def _only_list(who, lists):
    """The list itself, or the only one of a list of lists; none, for who neither gives nor gets one."""
    if not lists:
        return []
    return list(_only(who, "list of tensors", lists)) if isinstance(lists[0], (list, tuple)) else list(lists)


def reduction(who, op):
    """(kind, factor) of a ReduceOp."""
    factor = getattr(op, "factor", 1.0)
    kind = getattr(op, "op", op)
    if not isinstance(kind, ReduceOp.RedOpType) or kind == ReduceOp.UNUSED:
        raise ValueError(f"{who}: expected op to be a ReduceOp, got {op!r}")
    if kind == ReduceOp.PREMUL_SUM and kind is op:
        raise ValueError(f"{who}: op: PREMUL_SUM needs a factor; torch.distributed._make_nccl_premul_sum(factor) makes it")
    return int(kind), float(factor)


class GroupCalls:
    """Each method returns a Work; ranks are those of the group.  In place of the options object `opts`, a method takes the values that its
    docstring lists after "Or", by position or by name."""

    def allreduce(self, tensors, opts=None, *args, **given):
        """In place.  Each of several tensors becomes the reduction of all tensors of all ranks.  Or op, timeout."""
        op, timeout = _values("allreduce", ("op", "timeout"), opts, args, given)
        tensors = _list(tensors)
        call = "all_reduce" if len(tensors) == 1 else "all_reduce_to_each"
        return self.start(call, *reduction("allreduce", op), tensors, timeout=timeout)

    def allreduce_coalesced(self, tensors, opts=None):
        """Reduces each tensor by itself over the ranks, in place."""
        op, timeout = _values("allreduce_coalesced", ("op", "timeout"), opts, (), {})
        return self.start("all_reduce", *reduction("allreduce_coalesced", op), list(tensors), timeout=timeout)

    def allgather_coalesced(self, output_lists, input_list, opts=None):
        """output_lists[r][i] becomes tensor i of rank r."""
        timeout = _values("allgather_coalesced", ("timeout",), opts, (), {})
        return Works(self.start("all_gather", [outputs[i] for outputs in output_lists], tensor, timeout=timeout)
                     for i, tensor in enumerate(input_list))

    def allgather_into_tensor_coalesced(self, outputs, inputs, opts=None):
        """Each output becomes that input of all ranks, one after the other."""
        timeout = _values("allgather_into_tensor_coalesced", ("timeout",), opts, (), {})
        return Works(self.start("all_gather_into", *pair, timeout=timeout) for pair in zip(outputs, inputs, strict=True))

    def reduce_scatter_tensor_coalesced(self, outputs, inputs, opts=None):
        """Reduces each input over the ranks; each rank gets a part of each."""
        op, timeout = _values("reduce_scatter_tensor_coalesced", ("op", "timeout"), opts, (), {})
        op = reduction("reduce_scatter_tensor_coalesced", op)
        return Works(self.start("reduce_scatter_from", *op, *pair, timeout=timeout) for pair in zip(outputs, inputs, strict=True))

    def monitored_barrier(self, timeout=None, wait_all_ranks=False):
        """torch.distributed.monitored_barrier() of this group."""
        monitored_barrier(self, timeout, wait_all_ranks)

    def broadcast(self, tensors, opts=None, *args, **given):
        """In place.  Several tensors all become the root's tensor rootTensor.  Or root, timeout."""
        root, timeout = _values("broadcast", ("root", "timeout"), opts, args, given)
        tensors = _list(tensors)
        if len(tensors) == 1:
            return self.start("broadcast", tensors, root, timeout=timeout)
        return self.start("broadcast_to_each", tensors, root, getattr(opts, "rootTensor", 0), timeout=timeout)

    def reduce(self, tensors, opts=None, *args, **given):
        """The root's tensor becomes the result.  Or root, op, timeout."""
        root, op, timeout = _values("reduce", ("root", "op", "timeout"), opts, args, given)
        return self.start("reduce", *reduction("reduce", op), [_only("reduce", "tensor", tensors)], root, timeout=timeout)

    def allgather(self, output_tensors, input_tensors, opts=None, *args, **given):
        """Each process gets the tensors of all.  Or timeout."""
        timeout = _values("allgather", ("timeout",), opts, args, given)
        return self.start("all_gather", _only_list("allgather", output_tensors), _only("allgather", "tensor", input_tensors), timeout=timeout)

    def _allgather_base(self, output, input, opts=None, *args, **given):
        return self.start("all_gather_into", output, input, timeout=_values("_allgather_base", ("timeout",), opts, args, given))

    def gather(self, output_tensors, input_tensors, opts=None, *args, **given):
        """The root gets the tensors of all.  Or root, timeout."""
        root, timeout = _values("gather", ("root", "timeout"), opts, args, given)
        return self.start("gather", _only_list("gather", output_tensors), _only("gather", "tensor", input_tensors), root, timeout=timeout)

    def scatter(self, output_tensors, input_tensors, opts=None, *args, **given):
        """Each process gets one of the root's tensors.  Or root, timeout."""
        root, timeout = _values("scatter", ("root", "timeout"), opts, args, given)
        return self.start("scatter", _only("scatter", "tensor", output_tensors), _only_list("scatter", input_tensors), root, timeout=timeout)

    def reduce_scatter(self, output_tensors, input_tensors, opts=None, *args, **given):
        """Reduces the lists of all ranks element by element; each rank gets one of the results.  Or op, timeout."""
        op, timeout = _values("reduce_scatter", ("op", "timeout"), opts, args, given)
        output, inputs = _only("reduce_scatter", "tensor", output_tensors), _only_list("reduce_scatter", input_tensors)
        return self.start("reduce_scatter", *reduction("reduce_scatter", op), output, inputs, timeout=timeout)

    def _reduce_scatter_base(self, output, input, opts=None, *args, **given):
        op, timeout = _values("_reduce_scatter_base", ("op", "timeout"), opts, args, given)
        return self.start("reduce_scatter_from", *reduction("_reduce_scatter_base", op), output, input, timeout=timeout)

    def alltoall(self, output_tensors, input_tensors, opts=None):
        """output_tensors[r] becomes the tensor that rank r sends to this rank."""
        return self.start("all_to_all", list(output_tensors), list(input_tensors), timeout=_values("alltoall", ("timeout",), opts, (), {}))

    def alltoall_base(self, output, input, output_split_sizes=(), input_split_sizes=(), opts=None, *args, **given):
        """all-to-all of one tensor, split by rows of dimension 0.  Or timeout."""
        splits = [list(map(int, sizes or ())) for sizes in (output_split_sizes, input_split_sizes)]
        return self.start("all_to_all_single", output, input, *splits, timeout=_values("alltoall_base", ("timeout",), opts, args, given))

    def send(self, tensors, dstRank, tag=0):
        """Sends one tensor."""
        return self.start("send", _only("send", "tensor", tensors), dstRank, tag)

    def recv(self, tensors, srcRank, tag=0):
        """Receives one tensor."""
        return self.start("receive", _only("recv", "tensor", tensors), srcRank, tag)

    def recv_anysource(self, tensors, tag=0):
        """Receives one tensor from any rank; the work's source_rank() says from which."""
        return self.start("receive", _only("recv_anysource", "tensor", tensors), -1, tag)

    def barrier(self, opts=None, *args, **given):
        """Waits until all ranks have called it.  Or timeout."""
        return self.start("barrier", timeout=_values("barrier", ("timeout",), opts, args, given))
