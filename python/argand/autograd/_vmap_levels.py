"""The calls of vmap that this thread is in."""
import contextlib
import threading
import typing


class _Level(typing.NamedTuple):
    slices: object  # which tensors are slices, or made of some
    randomness: str


class _Levels(threading.local):
    """The calls of vmap that this thread is in, the innermost last."""
    of_thread = ()


levels = _Levels()
rules = None  # func/_rules.py, once vmap() has been imported: there is no level before


@contextlib.contextmanager
def within(some):
    before = levels.of_thread
    levels.of_thread = some
    try:
        yield
    finally:
        levels.of_thread = before


def level(slices, randomness):
    """A scope of vmap's calls."""
    return within((*levels.of_thread, _Level(slices, randomness)))


def active():
    return bool(levels.of_thread)
