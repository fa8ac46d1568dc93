"""The handles that registering a hook returns, under their name in torch.utils."""
import warnings

from .._hook_handles import RemovableHandle, RemovedByCall  # noqa: F401


def unserializable_hook(f):
    """Marks a hook of a tensor that cannot be saved with it."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warns of each hook of a tensor's that unserializable_hook() has not marked: it does not go with what is saved or sent."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
                          "with @torch.utils.hooks.unserializable_hook to suppress this warning", stacklevel=2)
