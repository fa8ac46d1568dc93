"""Switches for recording the backward graph, as context managers and decorators."""
from .. import _C, _surface
from .._contextlib import _DecoratorContextManager, _NoParamDecoratorContextManager
from .._switches import checked_argument


class _Switch(_DecoratorContextManager):
    """One of recording; its scopes may nest."""

    def __init__(self):
        self._before = []

    def __enter__(self):
        self._before.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *_):
        _C._set_grad_enabled(self._before.pop())


class no_grad(_NoParamDecoratorContextManager, _Switch):
    """A scope in which ops are not recorded for backward."""
    _mode = False


class enable_grad(_NoParamDecoratorContextManager, _Switch):
    """A scope in which ops are recorded for backward, also within no_grad()."""
    _mode = True


class set_grad_enabled(_Switch):
    """Switches recording on or off at once; in a `with` statement, for its scope."""

    def __init__(self, mode):
        super().__init__()
        self._at_start = _C.is_grad_enabled()
        self._mode = checked_argument(mode, "set_grad_enabled", "enabled", 1)
        _C._set_grad_enabled(self._mode)

    def clone(self):
        return set_grad_enabled(self._mode)

    def __call__(self, function):
        _C._set_grad_enabled(self._at_start)  # it decorates: nothing is to change now
        return super().__call__(function)

    def __enter__(self):
        self._before.append(self._at_start)
        _C._set_grad_enabled(self._mode)


class inference_mode(_Switch):
    """Like no_grad(); tensors made in its scope can never become part of a graph."""

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode=True):
        super().__init__()
        self._mode = checked_argument(mode, "inference_mode", "mode", 1)

    def clone(self):
        return inference_mode(self._mode)

    def __enter__(self):
        self._before.append(_C._InferenceMode(self._mode))

    def __exit__(self, *_):
        self._before.pop()


__getattr__, __dir__ = _surface.of(__name__)
