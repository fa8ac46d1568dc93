"""NNPACK, as torch.backends.nnpack: it is not used."""
from .._ignored import ignored


def is_available():
    """False."""
    return False


@ignored(_enabled=("NNPACK is not used", False))
def set_flags(_enabled):
    """The flags as they are: (False,)."""
    return (False,)
