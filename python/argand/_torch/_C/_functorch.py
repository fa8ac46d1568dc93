"""torch._C._functorch: functions by which packages make and know the tensors that stand for slices."""
from ..._ignored import harmless
from ...autograd._vmap_levels import levels
from ...func._batched import BatchedTensor


def is_batchedtensor(tensor):
    """Whether a tensor stands for the slices of a batch."""
    return type(tensor) is BatchedTensor and tensor._bdim is not None


is_functorch_wrapped_tensor = is_batchedtensor


@harmless(tensor="gradients have no wrappers")
def is_gradtrackingtensor(tensor):
    """False: gradients have no wrappers."""
    return False


is_legacy_batchedtensor = is_gradtrackingtensor


def get_unwrapped(tensor):
    """The batch of such a tensor; any other itself."""
    return tensor._value if is_batchedtensor(tensor) else tensor


def maybe_get_bdim(tensor):
    """The dimension of the batch; -1 of any other tensor."""
    return tensor._bdim if is_batchedtensor(tensor) else -1


def maybe_get_level(tensor):
    """The level of the vmap that made the tensor; -1 of any other."""
    return tensor._level.number if is_batchedtensor(tensor) else -1


def maybe_current_level():
    """The level of the innermost transform; None outside of all."""
    return levels.depth or None


def _level(number):
    found = next((one for one in levels.of_thread if one.number == number), None)
    if found is None:
        raise RuntimeError(f"torch._C._functorch: no function that vmap maps runs at level {number}")
    return found


def _add_batch_dim(batch, dim, level):
    """The tensor that stands for the slices of a batch along a dimension."""
    return _level(level).batched(batch, dim)


def _remove_batch_dim(tensor, level, size, dim):
    """The batch, its dimension at `dim`."""
    at = _level(level)
    if at.size != size:
        raise ValueError(f"_remove_batch_dim: batch_size: expected {at.size}, got {size}")
    with levels.outside(at):
        return at.whole(at.bare(tensor)).movedim(0, dim)
