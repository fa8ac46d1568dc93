"""Apple's GPUs, as torch.backends.mps: there is no such backend."""


def is_available():
    """False."""
    return False


is_built = is_macos13_or_newer = is_available


def is_macos_or_newer(major, minor):
    """False."""
    return False
