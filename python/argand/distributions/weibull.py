"""The Weibull distribution."""
from .. import _C
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """The time until something fails whose rate of failure is a power of its age: concentration - 1."""
    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(_C.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)], validate_args)

    def _moment(self, n):
        return _C.exp(_C.lgamma(1 + n * self.concentration.reciprocal()))

    mean = property(lambda self: self.scale * self._moment(1))
    mode = property(lambda self: self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal())
    variance = property(lambda self: self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2)))

    def entropy(self):
        return euler_constant * (1 - self.concentration.reciprocal()) + _C.log(self.scale / self.concentration) + 1
