"""Names of torch._guards that packages use: the active FakeTensorMode, and whether a compiler traces (never)."""


def active_fake_mode():
    """The FakeTensorMode that is on; None if there is none."""
    from .._fake_tensors import maybe_get_fake_mode
    return maybe_get_fake_mode(None)


def detect_fake_mode(inputs=None):
    """The FakeTensorMode that is on, or that of a FakeTensor among the inputs; None if there is none."""
    from .._fake_tensors import maybe_get_fake_mode
    from ..utils._pytree import tree_leaves
    found = active_fake_mode()
    return found or next((m for m in map(maybe_get_fake_mode, (x for x in tree_leaves(inputs) if x is not None)) if m is not None), None)


class TracingContext:
    """What a trace knows; there is none."""

    @staticmethod
    def try_get():
        """None: nothing is traced."""

    @staticmethod
    def get():
        """Raises RuntimeError: nothing is traced."""
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
