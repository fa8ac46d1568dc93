"""A decorator by which PyTorch marks functions whose interface it promises to keep."""
from .._ignored import harmless


@harmless(is_backward_compatible="it marks what PyTorch promises to keep")
def compatibility(is_backward_compatible):
    """A decorator that leaves functions and classes as they are."""
    return lambda obj: obj
