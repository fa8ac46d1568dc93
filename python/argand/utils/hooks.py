"""What registering a hook gives back, under its name in torch.utils."""
from .._tensor import RemovableHandle  # noqa: F401
