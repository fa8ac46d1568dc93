"""Probabilities of classes, and logarithms of their odds."""
from .. import _C
from .._info import finfo
from ..autograd.grad_mode import enable_grad
from . import constraints
from .distribution import Distribution


def _clamped(probs):
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Logarithms of odds of probabilities, or of the probabilities of classes."""
    safe = _clamped(probs)
    return _C.log(safe) - _C.log1p(-safe) if is_binary else _C.log(safe)


def logits_to_probs(logits, is_binary=False):
    """The other way."""
    return _C.sigmoid(logits) if is_binary else _C.softmax(logits, -1)


class ProbsOrLogits(Distribution):
    """One of the two is given, the other computed when somebody asks."""
    _binary = True

    def _take(self, probs, logits):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, value = ("probs", probs) if probs is not None else ("logits", logits)
        self.__dict__[name], = constraints.as_tensors(value)
        return self.__dict__[name]

    def __getattr__(self, name):
        if name == "logits" and "probs" in self.__dict__:
            with enable_grad():  # whoever asks first
                self.logits = probs_to_logits(self.probs, self._binary)
            return self.logits
        if name == "probs" and "logits" in self.__dict__:
            with enable_grad():
                self.probs = logits_to_probs(self.logits, self._binary)
            return self.probs
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def _param(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    param_shape = property(lambda self: self._param.shape)
