"""OpenMP, as torch.backends.openmp: the library has a thread pool of its own."""


def is_available():
    """False."""
    return False
