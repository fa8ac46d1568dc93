"""Collectives of Python objects, which are sent as pickles.  Unpickling can run code that other processes send, so they must be trusted,
unless weights_only allows only tensors and plain values."""
import io
import pickle

from .. import _C
from .._functions import frombuffer
from .._ignored import harmless
from ._collectives import all_gather, broadcast, gather, irecv, rank_of_group, recv, scatter, send
from ._groups import get_process_group_ranks, member

__all__ = ["all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list", "send_object_list"]


def _bytes_of(obj, weights_only=False):
    if weights_only:
        from ..serialization import save
        file = io.BytesIO()
        save(obj, file)
        return frombuffer(bytearray(file.getvalue()), dtype=_C.uint8)
    return frombuffer(bytearray(pickle.dumps(obj)), dtype=_C.uint8)


def _object_of(tensor, weights_only):
    data = tensor.numpy().tobytes()
    if weights_only:
        from ..serialization import load
        return load(io.BytesIO(data), weights_only=True)
    return pickle.loads(data)


def _sizes_of_all(tensor, group):
    sizes = [_C.zeros(1, dtype=_C.int64) for _ in range(group.size())]
    all_gather(sizes, _C.tensor([tensor.numel()]), group)
    return [int(size) for size in sizes]


def _numbers_of_bytes(tensors):
    return _C.tensor([t.numel() for t in tensors], dtype=_C.int64)


def _room_for(sizes):
    return [_C.empty(size, dtype=_C.uint8) for size in sizes]


def _parts(joined, sizes):
    return joined.split(sizes) if sizes else []


def all_gather_object(object_list, obj, group=None, weights_only=False):
    """object_list[r] becomes the object of process r, on all of them."""
    group = member("all_gather_object", group)
    if group is None:
        return
    tensor = _bytes_of(obj, weights_only)
    outputs = _room_for(_sizes_of_all(tensor, group))
    all_gather(outputs, tensor, group)
    for i, output in enumerate(outputs):
        object_list[i] = _object_of(output, weights_only)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False):
    """object_gather_list[r] becomes the object of process r, on the process dst."""
    group = member("gather_object", group)
    if group is None:
        return
    dst = rank_of_group("gather_object", "dst", group, dst, group_dst, default=0)
    is_dst = group.rank() == dst
    if is_dst and not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    if not is_dst and object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    tensor = _bytes_of(obj, weights_only)
    sizes = _sizes_of_all(tensor, group)
    longest = max(sizes)
    padded = _C.zeros(longest, dtype=_C.uint8)
    padded[:tensor.numel()] = tensor
    outputs = _room_for([longest] * group.size()) if is_dst else None
    gather(padded, outputs, group=group, group_dst=dst)
    for i, size in enumerate(sizes if is_dst else ()):
        object_gather_list[i] = _object_of(outputs[i][:size], weights_only)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, weights_only=False):
    """object_list becomes that of the process src, of as many objects.  device: where they travel, which is the host's memory."""
    group = member("broadcast_object_list", group)
    if group is None:
        return
    _check_device("broadcast_object_list", device)
    src = rank_of_group("broadcast_object_list", "src", group, src, group_src)
    is_src = group.rank() == src
    tensors = [_bytes_of(obj, weights_only) for obj in object_list] if is_src else []
    sizes = _numbers_of_bytes(tensors) if is_src else _C.zeros(len(object_list), dtype=_C.int64)
    broadcast(sizes, group=group, group_src=src)
    sizes = sizes.tolist()
    joined = _C.cat(tensors) if tensors else _C.empty(sum(sizes), dtype=_C.uint8)
    broadcast(joined, group=group, group_src=src)
    if not is_src:
        for i, part in enumerate(_parts(joined, sizes)):
            object_list[i] = _object_of(part, weights_only)


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None,
                        weights_only=False):
    """scatter_object_output_list[0] becomes one of the objects of the process src."""
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    group = member("scatter_object_list", group)
    if group is None:
        return
    src = rank_of_group("scatter_object_list", "src", group, src, group_src, default=0)
    is_src = group.rank() == src
    if is_src and (not scatter_object_input_list or len(scatter_object_input_list) != group.size()):
        raise ValueError(f"scatter_object_list: expected scatter_object_input_list to have an object for each process, {group.size()}, on "
                         f"source rank")
    tensors = [_bytes_of(obj, weights_only) for obj in scatter_object_input_list] if is_src else []
    sizes = _numbers_of_bytes(tensors) if is_src else _C.zeros(group.size(), dtype=_C.int64)
    broadcast(sizes, group=group, group_src=src)
    longest = int(sizes.max())
    padded = _C.zeros(group.size(), longest, dtype=_C.uint8)
    for i, tensor in enumerate(tensors):
        padded[i, :tensor.numel()] = tensor
    mine = _C.empty(longest, dtype=_C.uint8)
    scatter(mine, list(padded.unbind()) if is_src else None, group=group, group_src=src)
    scatter_object_output_list[0] = _object_of(mine[:int(sizes[group.rank()])], weights_only)


_IN_ORDER = "messages of one process to another are in order"


@harmless(use_batch=_IN_ORDER)
def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False, weights_only=False):
    """Sends objects to a process."""
    group = member("send_object_list", group)
    if group is None:
        return
    _check_device("send_object_list", device)
    dst = rank_of_group("send_object_list", "dst", group, dst, group_dst)
    tensors = [_bytes_of(obj, weights_only) for obj in object_list]
    send(_numbers_of_bytes(tensors), group=group, group_dst=dst)
    send(_C.cat(tensors) if tensors else _C.empty(0, dtype=_C.uint8), group=group, group_dst=dst)


@harmless(use_batch=_IN_ORDER)
def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False, weights_only=False):
    """Receives as many objects as object_list has; the sender's rank in the world, -1 out of the group."""
    group = member("recv_object_list", group)
    if group is None:
        return -1
    _check_device("recv_object_list", device)
    sizes = _C.zeros(len(object_list), dtype=_C.int64)
    if src is None and group_src is None:
        work = irecv(sizes, group=group)
        work.wait()
        sender = work.source_rank()
    else:
        sender = rank_of_group("recv_object_list", "src", group, src, group_src)
        recv(sizes, group=group, group_src=sender)
    sizes = sizes.tolist()
    joined = _C.empty(sum(sizes), dtype=_C.uint8)
    recv(joined, group=group, group_src=sender)
    for i, part in enumerate(_parts(joined, sizes)):
        object_list[i] = _object_of(part, weights_only)
    return get_process_group_ranks(group)[sender]


def _check_device(who, device):
    if device is not None and _C.device(device).type not in ("cpu", "cuda"):
        raise ValueError(f"{who}: expected device to be a CPU or a GPU, got {device}")
