"""The half-normal distribution."""
import math

from .. import _C
from . import constraints
from .distribution import Distribution
from .normal import Normal


class HalfNormal(Distribution):
    """The distance of a normal value from its mean, 0."""
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        self.scale, = constraints.as_tensors(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def _normal(self):
        return Normal(_C.zeros_like(self.scale), self.scale, validate_args=False)

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    mode = property(lambda self: _C.zeros_like(self.scale))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    def sample(self, sample_shape=_C.Size()):
        return self._normal.sample(sample_shape).abs()

    def rsample(self, sample_shape=_C.Size()):
        return self._normal.rsample(sample_shape).abs()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (self._normal.log_prob(value) + math.log(2)).masked_fill(value < 0, -math.inf)

    def cdf(self, value):
        return 2 * self._normal.cdf(value) - 1

    def icdf(self, value):
        return self._normal.icdf((value + 1) / 2)

    def entropy(self):
        return self._normal.entropy() - math.log(2)
