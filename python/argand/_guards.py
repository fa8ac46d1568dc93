"""What packages ask of torch._guards: whether a compiler traces, which none does."""


def active_fake_mode():
    """None."""
    return None


def detect_fake_mode(inputs=None):
    """None."""
    return None
