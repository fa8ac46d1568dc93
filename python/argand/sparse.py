"""Sparse tensors, as torch.sparse: only names, for annotations and isinstance().  There are none."""
import functools

from . import _surface

__path__ = []  # PyTorch has modules below it: argand/_surface/sparse.txt has them

__all__ = ["check_sparse_tensor_invariants"]


class check_sparse_tensor_invariants:
    """Whether sparse tensors are checked when they are made, as torch.sparse's: a context, a decorator, and two switches.
    There are none to check."""
    _enabled = False

    def __init__(self, enable=True):
        self._wanted = enable

    @classmethod
    def is_enabled(cls):
        return check_sparse_tensor_invariants._enabled

    @classmethod
    def enable(cls):
        check_sparse_tensor_invariants._enabled = True

    @classmethod
    def disable(cls):
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self):
        self._before, check_sparse_tensor_invariants._enabled = self.is_enabled(), self._wanted

    def __exit__(self, *error):
        check_sparse_tensor_invariants._enabled = self._before

    def __call__(self, function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            with type(self)(self._wanted):
                return function(*args, **kwargs)
        return checked


__getattr__, __dir__ = _surface.of(__name__)
