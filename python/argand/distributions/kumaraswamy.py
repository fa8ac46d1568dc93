"""The Kumaraswamy distribution."""
import math

from .. import _C
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Much like Beta, with a cdf that is simple: 1 - (1 - x^concentration1)^concentration0."""
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(_C.zeros_like(self.concentration0), _C.ones_like(self.concentration0), validate_args=validate_args)
        transforms = [PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
                      PowerTransform(self.concentration1.reciprocal())]
        super().__init__(base, transforms, validate_args)

    def _moment(self, n):
        """b B(1 + n / a, b)"""
        a, b = self.concentration1, self.concentration0
        return _C.exp(b.log() + _C.lgamma(1 + n / a) + _C.lgamma(b) - _C.lgamma(1 + n / a + b))

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1).pow(2))

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        return (((a - 1) / (a * b - 1)).log() / a).exp().masked_fill((a < 1) | (b < 1), math.nan)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = _C.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
