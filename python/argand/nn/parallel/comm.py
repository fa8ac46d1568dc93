"""Tensors sent to several GPUs and put together again, as torch.nn.parallel.comm and torch.cuda.comm."""
from ... import _C
from ..._ignored import harmless
from .scatter_gather import device_index


def broadcast(tensor, devices=None, *, out=None):
    """The tensor on each of the devices, a tuple; or written to each of `out`."""
    if (devices is None) == (out is None):
        raise RuntimeError(f"broadcast(): expected one of 'devices' and 'out', got devices={devices} and out={out}")
    if out is not None:
        return tuple(to.copy_(tensor) for to in out)
    return tuple(tensor.to(device_index(d), non_blocking=True) for d in devices)


@harmless(buffer_size="each tensor is sent by itself")
def broadcast_coalesced(tensors, devices, buffer_size=10485760):
    """For each device all the tensors, a list."""
    return [[t.to(device_index(d), non_blocking=True) for t in tensors] for d in devices]


def reduce_add(inputs, destination=None):
    """The sum of tensors of one shape, on a device: that of the first if none is named."""
    device = inputs[0].device if destination is None else device_index(destination)
    if len({x.shape for x in inputs}) > 1:
        raise ValueError(f"reduce_add(): expected tensors of one shape, got {[list(x.shape) for x in inputs]}")
    return sum((x.to(device) for x in inputs[1:]), inputs[0].to(device))


@harmless(buffer_size="each tensor is sent by itself")
def reduce_add_coalesced(inputs, destination=None, buffer_size=10485760):
    """The sums of the first of all lists, of the second, and so on; a tuple."""
    return tuple(reduce_add(column, destination) for column in zip(*inputs))


def _refuse_with_out(**given):
    for name, value in given.items():
        if value is not None:
            raise RuntimeError(f"'{name}' must not be specified when 'out' is specified, but got {name}={value}")


@harmless(streams="copies are ordered with what reads them, on whatever stream")
def scatter(tensor, devices=None, chunk_sizes=None, dim=0, streams=None, *, out=None):
    """Parts of a tensor along dim, of equal sizes or of chunk_sizes, one for each device; or written to each of `out`.  A tuple."""
    if out is not None:
        _refuse_with_out(devices=devices, chunk_sizes=chunk_sizes)
        return tuple(to.copy_(part) for to, part in zip(out, tensor.split([to.shape[dim] for to in out], dim)))
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(part.to(device_index(d), non_blocking=True) for part, d in zip(parts, devices))


def gather(tensors, dim=0, destination=None, *, out=None):
    """The tensors one after the other along dim, on a device: the current GPU if none is named; or written to `out`."""
    if out is not None:
        _refuse_with_out(destination=destination)
    device = out.device if out is not None else _C.device("cuda") if destination is None else device_index(destination)
    result = _C.cat([t.to(device) for t in tensors], dim)
    return result if out is None else out.copy_(result)
