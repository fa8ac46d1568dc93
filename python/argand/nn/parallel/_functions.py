"""comm's functions with gradients, as torch.nn.parallel._functions."""
from ... import _C
from . import comm
from .scatter_gather import device_index


class Broadcast:
    """apply(devices, *tensors): all tensors on the first device, then on the second, and so on."""

    @staticmethod
    def apply(target_gpus, *inputs):
        return tuple(x.to(device_index(d), non_blocking=True) for d in target_gpus for x in inputs)


class ReduceAddCoalesced:
    """apply(device, n, *tensors): the sums of every n-th tensor, from each of the first n on."""

    @staticmethod
    def apply(destination, num_inputs, *grads):
        return tuple(comm.reduce_add(grads[i::num_inputs], destination) for i in range(num_inputs))


class Scatter:
    """apply(devices, sizes, dim, tensor): its parts, see comm.scatter."""

    @staticmethod
    def apply(target_gpus, chunk_sizes, dim, input):
        return comm.scatter(input, target_gpus, chunk_sizes, dim)


class Gather:
    """apply(device, dim, *tensors): one tensor, see comm.gather; numbers become a row."""

    @staticmethod
    def apply(target_device, dim, *inputs):
        return comm.gather([_C.atleast_1d(x) for x in inputs], dim, target_device)
