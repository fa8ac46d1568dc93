"""Tools for training programs, as torch.utils."""
from . import checkpoint, data  # noqa: F401
