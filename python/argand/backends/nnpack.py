"""NNPACK, as torch.backends.nnpack: it is not used."""


def is_available():
    """False."""
    return False


def set_flags(_enabled):
    """Accepted: it is not there.  The flags before."""
    return (False,)
