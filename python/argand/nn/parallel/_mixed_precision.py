"""Mixed precision of DistributedDataParallel: parameters stay as they are, and each forward computes with shorter copies of them."""
from dataclasses import dataclass

from ... import _C
from ..utils.stateless import functional_call


@dataclass
class _MixedPrecision:
    """param_dtype: of parameters and inputs in a forward.  reduce_dtype: in which gradients are sent, param_dtype if not given.
    buffer_dtype: of the buffers, from the beginning.  None leaves a dtype as it is; only floating-point tensors are cast."""

    param_dtype: "_C.dtype | None" = None
    reduce_dtype: "_C.dtype | None" = None
    buffer_dtype: "_C.dtype | None" = None


def _cast(tensor, dtype):
    return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor


def cast_buffers(precision, buffers):
    """The buffers in their dtype, in place."""
    for buffer in buffers:
        buffer.data = _cast(buffer.data, precision.buffer_dtype)


def forward(precision, module, ignored, inputs, kwargs):
    """module(*inputs, **kwargs) in param_dtype.  The casts of the parameters are part of the graph, so .grad has the parameters' dtype."""
    from ...utils._pytree import tree_map_only
    dtype = precision.param_dtype
    inputs, kwargs = tree_map_only(_C.Tensor, lambda t: _cast(t, dtype), (inputs, kwargs))
    if dtype is None:
        return module(*inputs, **kwargs)
    return functional_call(module, {n: _cast(p, dtype) for n, p in module.named_parameters() if n not in ignored}, tuple(inputs), kwargs)


def comm_hook(precision):
    """The hook that sends gradients in reduce_dtype; None if they are sent as they are."""
    dtype = precision.reduce_dtype or precision.param_dtype
    if dtype is None:
        return None
    from ...distributed.algorithms.ddp_comm_hooks.default_hooks import compress_hook
    return compress_hook(dtype)
