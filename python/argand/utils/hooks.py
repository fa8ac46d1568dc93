"""What registering a hook gives back, under its name in torch.utils."""
from .._refused import refused
from .._hook_handles import RemovableHandle  # noqa: F401


def unserializable_hook(f):
    """Marks a hook of a tensor that cannot be saved with it."""
    f.__torch_unserializable__ = True
    return f


warn_if_has_hooks = refused("torch.utils.hooks.warn_if_has_hooks", "what hooks a tensor has is not told")
