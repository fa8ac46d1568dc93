"""What packages ask of torch._guards: whether a compiler traces, which none does."""
from ._ignored import harmless


def active_fake_mode():
    """None."""
    return None


@harmless(inputs="no tensor is fake")
def detect_fake_mode(inputs=None):
    """None."""
    return None


class TracingContext:
    """What a trace knows; there is none."""

    @staticmethod
    def try_get():
        """None: nothing is traced."""

    @staticmethod
    def get():
        """Raises RuntimeError: nothing is traced."""
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
