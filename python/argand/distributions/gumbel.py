"""The Gumbel distribution."""
import math

from .. import _C
from .._info import finfo
from .location_scale import LocationScale

_EULER = -_C.digamma(_C.ones((), dtype=_C.float64)).item()


class Gumbel(LocationScale):
    """The greatest of many values."""
    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc + self.scale * _EULER)
    stddev = property(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def rsample(self, sample_shape=_C.Size()):
        limits = finfo(self.loc.dtype)
        u = _C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        u = limits.tiny + u * (1 - limits.eps - limits.tiny)
        return self.loc - self.scale * (-u.log()).log()

    def log_prob(self, value):
        y = -self._standard(value)
        return (y - y.exp()) - self.scale.log()

    def cdf(self, value):
        return _C.exp(-_C.exp(-self._standard(value)))

    def icdf(self, value):
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self):
        return self.scale.log() + (1 + _EULER)
