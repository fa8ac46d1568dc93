"""MKL, as torch.backends.mkl: it is not used."""


def is_available():
    """False."""
    return False
