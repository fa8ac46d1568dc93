"""What transforms make of random values."""
import math

from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import Distribution, sum_rightmost
from .transforms import Transform


class TransformedDistribution(Distribution):
    """What transforms make of the values of a distribution."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        events = max([len(base_distribution.event_shape)] + [t.event_dim for t in self.transforms])
        shape = base_distribution.batch_shape + base_distribution.event_shape
        super().__init__(shape[:len(shape) - events], shape[len(shape) - events:], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self):
        last = self.transforms[-1].codomain if self.transforms else self.base_dist.support
        return constraints.independent(last, len(self._event_shape) - last.event_dim)

    def expand(self, batch_shape, _instance=None):
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__, _batch_shape=_C.Size(batch_shape))
        own = len(self._event_shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(_C.Size(batch_shape) + self._event_shape[:own])
        return new

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=_C.Size()):
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        total, y, events = 0.0, value, len(self._event_shape)
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            total = total - sum_rightmost(transform.log_abs_det_jacobian(x, y), events - transform.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))

    def _sign(self):
        return math.prod(t.sign for t in self.transforms)

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        value, sign = self.base_dist.cdf(value), self._sign()
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def icdf(self, value):
        sign = self._sign()
        value = value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5
        return self._through(self.base_dist.icdf(value))

    def __repr__(self):
        return f"{type(self).__name__}({self.base_dist}, {self.transforms})"
