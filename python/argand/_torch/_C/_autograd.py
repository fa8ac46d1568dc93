"""torch._C._autograd."""
from ... import _C, _surface
from ...autograd._engine import SavedTensor  # noqa: F401

_get_current_graph_task_keep_graph = _C._backward_keeps_graph
_saved_tensors_hooks_disable = _C._disable_saved_tensors_hooks
_push_saved_tensors_default_hooks = _C._push_saved_tensors_hooks
_pop_saved_tensors_default_hooks = _C._pop_saved_tensors_hooks


def _saved_tensors_hooks_is_enabled():
    """Whether saved_tensors_hooks() can be used here."""
    message = _C._disable_saved_tensors_hooks(None)
    if message is not None:
        _C._disable_saved_tensors_hooks(message)
    return message is None


def _saved_tensors_hooks_enable():
    """Lets saved_tensors_hooks() be used again."""
    _C._disable_saved_tensors_hooks(None)


__getattr__, __dir__ = _surface.of(__name__)
