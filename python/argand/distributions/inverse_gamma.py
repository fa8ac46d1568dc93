"""The inverse gamma distribution."""
import math

from .. import _C
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma value."""
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self):
        mean = self.rate / (self.concentration - 1)
        return _C.where(self.concentration > 1, mean, _C.full_like(mean, math.inf))

    @property
    def variance(self):
        variance = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return _C.where(self.concentration > 2, variance, _C.full_like(variance, math.inf))

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + _C.lgamma(a) - (1 + a) * _C.digamma(a)
