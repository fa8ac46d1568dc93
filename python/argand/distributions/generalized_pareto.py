"""The generalized Pareto distribution."""
import math

from .. import _C
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold, loc: of those values a part (1 + concentration z)^(-1 / concentration) has a greater z.

    z is (value - loc) / scale. A concentration of 0 is the limit, e^-z; a negative one has an end.
    """
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, end.masked_fill(self.concentration >= 0, math.inf))

    def _limit(self):
        """A mask that is true where the concentration is 0, and the concentrations with 1 in these places."""
        zero = _C.isclose(self.concentration, _C.zeros_like(self.concentration))
        return zero, self.concentration.masked_fill(zero, 1.0)

    def rsample(self, sample_shape=_C.Size()):
        return self.icdf(_C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def _standard(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (value - self.loc) / self.scale

    def log_survival_function(self, value):
        """log(1 - cdf)"""
        z, (zero, k) = self._standard(value), self._limit()
        return _C.where(zero, -z, -_C.log1p(k * z) / k)

    def log_prob(self, value):
        # The survival falls as the next higher power, which is 0 for the uniform distribution, of concentration -1, at its end, too.
        z, (zero, k) = self._standard(value), self._limit()
        return _C.where(zero, -z, -_C.special_xlog1py(1 + k, k * z) / k) - self.scale.log()

    def log_cdf(self, value):
        """log(cdf)"""
        return _C.log1p(-_C.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return _C.exp(self.log_cdf(value))

    def icdf(self, value):
        log_survival = _C.log1p(-value)
        zero, k = self._limit()
        return self.loc + self.scale * _C.where(zero, -log_survival, _C.expm1(-k * log_survival) / k)

    @property
    def mean(self):
        return (self.loc + self.scale / (1 - self.concentration)).masked_fill(self.concentration >= 1, math.nan)

    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        k = self.concentration
        return (self.scale.pow(2) / ((1 - k).pow(2) * (1 - 2 * k))).masked_fill(k >= 0.5, math.nan)

    def entropy(self):
        return self.scale.log() + self.concentration + 1
