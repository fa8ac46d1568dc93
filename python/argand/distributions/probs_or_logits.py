"""The base of distributions that are given by probabilities or by their logits."""
from .. import _C
from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class ProbsOrLogits(Distribution):
    """A distribution given by probs or by logits; the other is computed when it is read."""
    _binary = True

    def _take(self, probs, logits, *others):
        """Keeps what is given, broadcast with others; returns all of them, the parameter first."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, value = ("probs", probs) if probs is not None else ("logits", logits)
        taken = broadcast_all(value, *others)
        setattr(self, name, taken[0])
        return taken

    @lazy_property
    def logits(self):
        """The logarithms of odds, or of the probabilities of classes."""
        return probs_to_logits(self.probs, self._binary)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits, self._binary)

    @property
    def _param(self):
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return self._param.shape

    def _new(self, *args, **kwargs):
        return self._param.new_empty(*args, **kwargs)

    def _numbers(self, count, expand, dtype=None):
        """What enumerate_support() gives if the values are the first `count` whole numbers."""
        values = _C.arange(count, dtype=dtype or self._param.dtype, device=self._param.device).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OfCategorical(Distribution):
    """What draws classes from a Categorical, `_categorical`, and makes something of them."""

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    _param = property(lambda self: self._categorical._param)
    param_shape = property(lambda self: self._categorical.param_shape)

    def _new(self, *args, **kwargs):
        return self._categorical._new(*args, **kwargs)
