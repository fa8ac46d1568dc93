"""Names of torch.distributed.utils that packages import."""
from .. import _C, _surface
from .._ignored import harmless
from ._collectives import _broadcast_coalesced
from ._work import call_site


def _sync_params_and_buffers(process_group, module_states, broadcast_bucket_size, src):
    """Tensors become those of the rank `src` of the group."""
    if module_states:
        _broadcast_coalesced(process_group, [state.detach() for state in module_states], broadcast_bucket_size, src)


def _sync_module_states(module, process_group, broadcast_bucket_size, src, params_and_buffers_to_ignore, broadcast_buffers=True):
    """A module's parameters and buffers become those of the rank `src` of the group."""
    named = [*module.named_parameters(), *(module.named_buffers() if broadcast_buffers else ())]
    states = [state for name, state in named if name not in params_and_buffers_to_ignore]
    _sync_params_and_buffers(process_group, states, broadcast_bucket_size, src)


@harmless(logger="it would only log what was compared")
def _verify_param_shape_across_processes(process_group, tensors, logger=None):
    """RuntimeError unless all ranks have tensors of the same shapes and dtypes, in the same order."""
    _C._check_same_parameters(process_group._group, call_site(), [f"parameter {i}" for i in range(len(tensors))], tensors)


def _replace_by_prefix(state_dict, old_prefix, new_prefix):
    """Keys that begin with one prefix begin with the other."""
    if old_prefix == new_prefix:
        raise ValueError("old_prefix and new_prefix must be distinct")
    for key in [key for key in state_dict if key.startswith(old_prefix)]:
        state_dict[new_prefix + key[len(old_prefix):]] = state_dict.pop(key)


__getattr__, __dir__ = _surface.of(__name__)
