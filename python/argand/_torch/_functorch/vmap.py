"""Internal names of torch's vmap that packages import.  Here vmap is a loop over slices: no tensor is ever batched."""
from ..._C import Tensor  # noqa: F401
from .._C._functorch import _add_batch_dim, _remove_batch_dim  # noqa: F401
from ...func import vmap  # noqa: F401
from ...utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten  # noqa: F401

_maybe_remove_batch_dim = _remove_batch_dim


def _get_name(func):
    """The name of a function, for messages."""
    return getattr(func, "__name__", repr(func))
