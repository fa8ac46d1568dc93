"""The mark of what PyTorch promises to keep."""


def compatibility(is_backward_compatible):
    """A decorator that leaves functions and classes as they are."""
    return lambda obj: obj
