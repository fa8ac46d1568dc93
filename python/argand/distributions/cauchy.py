"""The Cauchy distribution."""
import math

from .. import _C
from .location_scale import LocationScale
from .utils import broadcast_all

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """The ratio of two normal values; it has no mean."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: _C.full_like(self.loc, math.nan))
    variance = property(lambda self: _C.full_like(self.loc, math.inf))

    def rsample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        return self.loc + _C.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_() * self.scale

    def log_prob(self, value):
        return -math.log(math.pi) - self.scale.log() - (self._standard(value) ** 2).log1p()

    def cdf(self, value):
        return _C.atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value):
        return _C.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
