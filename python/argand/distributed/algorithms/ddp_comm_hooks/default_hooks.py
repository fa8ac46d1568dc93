"""The mean of gradients, sent in its own or in a shorter dtype.  state: the process group; None: the default group."""
from .... import _C
from ..._collectives import ReduceOp, all_reduce

__all__ = ["allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook", "fp16_compress_wrapper"]


def _mean(group, tensor):
    return all_reduce(tensor, ReduceOp.AVG, group, async_op=True).get_future()


def allreduce_hook(process_group, bucket):
    """The mean of all processes."""
    return _mean(process_group, bucket.buffer()).then(lambda done: done.value()[0])


def _in(dtype, state, bucket):
    group = getattr(state, "process_group", state)
    long = bucket.buffer()
    return _mean(group, long.to(dtype)).then(lambda done: done.value()[0].to(long.dtype))


def compress_hook(dtype):
    """A hook: the mean, sent in a dtype."""
    return lambda state, bucket: _in(dtype, state, bucket)


def fp16_compress_hook(state, bucket):
    """The mean, sent as float16."""
    return _in(_C.float16, state, bucket)


def bf16_compress_hook(state, bucket):
    """The mean, sent as bfloat16."""
    return _in(_C.bfloat16, state, bucket)


def _wrapper(dtype, hook):
    def compressed(state, bucket):
        long = bucket.buffer()
        bucket.set_buffer(long.to(dtype))

        def lengthened(done):
            value = done.value()
            return (value[0] if isinstance(value, (list, tuple)) else value).to(long.dtype)

        return hook(state, bucket).then(lengthened)
    return compressed


def fp16_compress_wrapper(hook):
    """Wraps another hook, so that it gets and returns gradients in float16."""
    return _wrapper(_C.float16, hook)


def bf16_compress_wrapper(hook):
    """Wraps another hook, so that it gets and returns gradients in bfloat16."""
    return _wrapper(_C.bfloat16, hook)
