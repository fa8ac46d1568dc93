"""Apple's GPUs, as torch.backends.mps: there is no such backend."""
from .._ignored import harmless


def is_available():
    """False."""
    return False


is_built = is_macos13_or_newer = is_available


@harmless(major="this is no macOS", minor="this is no macOS")
def is_macos_or_newer(major, minor):
    """False."""
    return False
