"""The base of distributions."""
import warnings

from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """Random tensors: batch_shape many independent ones, of event_shape each.

    A subclass has `arg_constraints` (the sets its parameters are of), `support`, and some of rsample, log_prob, entropy, cdf, icdf.
    """
    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @property
    def arg_constraints(self):
        """The constraint that each parameter must fulfil, by its name."""
        raise NotImplementedError

    @property
    def support(self):
        """The set of values."""
        raise NotImplementedError

    @staticmethod
    def set_default_validate_args(value):
        """Sets whether distributions check their parameters and values by default."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=_C.Size(), event_shape=_C.Size(), validate_args=None):
        self._batch_shape, self._event_shape = _C.Size(batch_shape), _C.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self):
        for name, constraint in self._told("arg_constraints", ". Please set `arg_constraints = {}` or", {}).items():
            # A parameter that is computed from another (probs from logits) is right if that is.
            lazy = name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property)
            if constraints.is_dependent(constraint) or lazy:
                continue
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                                 f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    def _told(self, name, advice, otherwise):
        """An attribute that a subclass should have; a warning where it has none."""
        try:
            return getattr(self, name)
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `{name}`{advice} initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=4)
            return otherwise

    @property
    def batch_shape(self):
        """The shape of independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one random value."""
        return self._event_shape

    def expand(self, batch_shape, _instance=None):
        """The distribution with a larger batch_shape: its parameters expanded, and the distributions it is made of."""
        batch_shape, parameters = _C.Size(batch_shape), self.arg_constraints
        new = self._get_checked_instance(type(self), _instance)
        for name, value in self.__dict__.items():
            # Lazy properties that are not parameters are computed again, in the new shape.
            stale = name not in parameters and isinstance(getattr(type(self), name, None), lazy_property)
            if name in new.__dict__ or stale:
                continue
            if isinstance(value, Distribution):
                value = value.expand(batch_shape + value.batch_shape[len(self._batch_shape):])
            elif name in parameters:
                value = value.expand(batch_shape + value.shape[len(self._batch_shape):])
            new.__dict__[name] = value
        new._batch_shape = batch_shape
        return new

    def _get_checked_instance(self, cls, _instance=None):
        """What the expand() of `cls` fills in: a new object, or that of a subclass whose expand() asks."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                                      "define a custom .expand() method.")
        return type(self).__new__(type(self)) if _instance is None else _instance

    def sample(self, sample_shape=_C.Size()):
        """Random values of sample_shape + batch_shape + event_shape, without a history."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=_C.Size()):
        """Random values that are differentiable by the parameters."""
        raise NotImplementedError(f"{type(self).__name__}.rsample: there is no differentiable sample")

    def sample_n(self, n):
        """sample((n,))"""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(_C.Size((n,)))

    def _missing(self, what):
        return NotImplementedError(f"{type(self).__name__}.{what}")

    @property
    def mean(self):
        """The expected value."""
        raise self._missing("mean")

    @property
    def mode(self):
        """The value of greatest probability."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The expected squared distance from the mean."""
        raise self._missing("variance")

    @property
    def stddev(self):
        """The square root of the variance."""
        return self.variance.sqrt()

    def log_prob(self, value):
        """The logarithm of the probability (density) of values."""
        raise self._missing("log_prob")

    def cdf(self, value):
        """The cumulative distribution function: the probability of values up to this one."""
        raise self._missing("cdf")

    def icdf(self, value):
        """The inverse of cdf."""
        raise self._missing("icdf")

    def entropy(self):
        """The expected -log_prob."""
        raise self._missing("entropy")

    def enumerate_support(self, expand=True):
        """All values that a sample can have, along a new first dimension."""
        raise self._missing("enumerate_support")

    def perplexity(self):
        """exp(entropy)."""
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
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs "
                             f"{self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}.")
        support = self._told("support", " to enable sample validation. Please", None)
        if support is not None and not support.check(value).all():
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                             f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self):
        values = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        parts = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in values.items()]
        return f"{type(self).__name__}({', '.join(parts)})"
