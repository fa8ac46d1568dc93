"""Small things about modes, as torch.utils._mode_utils."""
import contextlib

from .._dispatch import StateOff


def all_same_mode(modes):
    """Whether all are one mode."""
    return all(mode == modes[0] for mode in modes)


@contextlib.contextmanager
def no_dispatch():
    """A scope in which neither modes nor classes are offered ops."""
    with StateOff():
        yield
