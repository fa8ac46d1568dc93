"""The base of distributions."""
from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints


class Distribution:
    """Random tensors: batch_shape many independent ones, of event_shape each.

    A subclass has `arg_constraints` (the sets its parameters are of), `support`, and some of rsample, log_prob, entropy, cdf, icdf.
    """
    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    arg_constraints = {}
    support = None

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions check their parameters and values, unless they are told."""
        if value not in (True, False):
            raise ValueError("set_default_validate_args: expected a bool")
        Distribution._validate_args = value

    def __init__(self, batch_shape=_C.Size(), event_shape=_C.Size(), validate_args=None):
        self._batch_shape, self._event_shape = _C.Size(batch_shape), _C.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                # A parameter that is computed from another (probs from logits) is right if that is.
                if constraints.is_dependent(constraint) or name not in self.__dict__:
                    continue
                value = getattr(self, name)
                if not constraint.check(value).all():
                    raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                                     f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    @property
    def batch_shape(self):
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one random value."""
        return self._event_shape

    def expand(self, batch_shape, _instance=None):
        """The distribution with a larger batch_shape: its parameters expanded."""
        batch_shape = _C.Size(batch_shape)
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        for name in self._parameters():
            value = getattr(self, name)
            own = value.shape[len(self._batch_shape):]
            new.__dict__[name] = value.expand(batch_shape + own)
        new._batch_shape = batch_shape
        return new

    def _parameters(self):
        return [n for n in self.arg_constraints if isinstance(self.__dict__.get(n), _C.Tensor)]

    def sample(self, sample_shape=_C.Size()):
        """Random values of sample_shape + batch_shape + event_shape, without a history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=_C.Size()):
        """Random values that are differentiable by the parameters."""
        raise NotImplementedError(f"{type(self).__name__}.rsample: there is no differentiable sample")

    def sample_n(self, n):
        """sample((n,))"""
        return self.sample(_C.Size((n,)))

    def _missing(self, what):
        raise NotImplementedError(f"{type(self).__name__}.{what}")

    @property
    def mean(self):
        """The expected value."""
        return self._missing("mean")

    @property
    def mode(self):
        """The value of greatest probability."""
        return self._missing("mode")

    @property
    def variance(self):
        """The expected squared distance from the mean."""
        return self._missing("variance")

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()

    def log_prob(self, value):
        """The logarithm of the probability (density) of values."""
        return self._missing("log_prob")

    def cdf(self, value):
        """The probability of what is not greater."""
        return self._missing("cdf")

    def icdf(self, value):
        """The inverse of cdf."""
        return self._missing("icdf")

    def entropy(self):
        """The expected -log_prob."""
        return self._missing("entropy")

    def enumerate_support(self, expand=True):
        """All values, along a first dimension."""
        return self._missing("enumerate_support")

    def perplexity(self):
        """e to the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=_C.Size()):
        return _C.Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        """Does nothing without validation; ValueError for a value that is none of the distribution's."""
        if not self._validate_args:
            return
        if not isinstance(value, _C.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if value.shape[value.dim() - events:] != self._event_shape:
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{tuple(value.shape)} vs {tuple(self._event_shape)}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs {tuple(expected)}.")
        support = self.support
        if support is not None and not support.check(value).all():
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                             f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self):
        parts = []
        for name in self._parameters():
            value = getattr(self, name)
            parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


def sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(*value.shape[:value.dim() - dim], -1).sum(-1)
