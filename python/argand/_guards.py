"""What packages ask of torch._guards: whether a compiler traces, which none does."""
from ._ignored import harmless


def active_fake_mode():
    """None."""
    return None


@harmless(inputs="no tensor is fake")
def detect_fake_mode(inputs=None):
    """None."""
    return None
