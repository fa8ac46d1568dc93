"""MIOpen, as torch.backends.miopen: it is not used."""


def is_available():
    """False."""
    return False
