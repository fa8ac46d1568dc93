"""Apple's GPUs, as torch.backends.mps: there is no such backend."""


def is_available():
    """False."""
    return False


is_built = is_available
