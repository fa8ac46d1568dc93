"""Apple's GPUs, of which there are none: what programs ask before they use them."""


def is_available():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def empty_cache():
    """Nothing is kept."""


def synchronize():
    """Nothing is under way."""


def manual_seed(seed):
    """There is no generator to seed."""
