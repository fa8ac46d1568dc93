"""torch._C._functorch: functions by which packages tell vmap's wrapped tensors from others.  Here no tensor is wrapped."""
from ._ignored import harmless


@harmless(tensor="no tensor is wrapped")
def is_batchedtensor(tensor):
    """False."""
    return False


is_gradtrackingtensor = is_functorch_wrapped_tensor = is_legacy_batchedtensor = is_batchedtensor


def get_unwrapped(tensor):
    """The tensor."""
    return tensor


def _add_batch_dim(*_):
    """Raises NotImplementedError."""
    raise NotImplementedError("torch._C._functorch: vmap is a loop over slices: no tensor is wrapped")


_remove_batch_dim = _add_batch_dim
