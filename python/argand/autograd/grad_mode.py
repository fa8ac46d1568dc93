"""Switches of recording, as context managers and decorators."""
import functools
import inspect

from .. import _C


class _Switch:
    """A context manager that can decorate functions and generators, with or without parentheses."""

    def __init__(self):
        self._before = []

    def clone(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def generate(*args, **kwargs):
                with self.clone():
                    generator = function(*args, **kwargs)
                    value = None
                while True:
                    with self.clone():
                        try:
                            item = generator.send(value)
                        except StopIteration as stop:
                            return stop.value
                    value = yield item
            return generate

        @functools.wraps(function)
        def call(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return call

    def __enter__(self):
        self._before.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *_):
        _C._set_grad_enabled(self._before.pop())


def _decorates(cls):
    """`@no_grad` without parentheses."""
    plain = cls.__new__

    def new(kind, function=None):
        self = plain(kind)
        if function is not None:
            self.__init__()
            return self(function)
        return self
    cls.__new__ = staticmethod(new)
    return cls


@_decorates
class no_grad(_Switch):
    """Nothing is recorded in its scope."""
    _mode = False


@_decorates
class enable_grad(_Switch):
    """Ops are recorded in its scope, within no_grad() too."""
    _mode = True


class set_grad_enabled(_Switch):
    """Recording on or off, at once; in a `with` statement, for its scope."""

    def __init__(self, mode):
        super().__init__()
        self._at_start = _C.is_grad_enabled()
        self._mode = bool(mode)
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
    """As no_grad(), and tensors made in its scope can never become part of a graph."""

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode=True):
        super().__init__()
        self._mode = bool(mode)

    def clone(self):
        return inference_mode(self._mode)

    def __enter__(self):
        self._before.append(_C._InferenceMode(self._mode))

    def __exit__(self, *_):
        self._before.pop()
