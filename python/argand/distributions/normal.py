"""The normal distribution."""
import math

from .. import _C
from ..autograd.grad_mode import no_grad
from .location_scale import LocationScale


class Normal(LocationScale):
    """The normal distribution with mean loc and standard deviation scale."""
    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _C.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        zeros = _C.zeros(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + _C.normal(zeros, _C.ones_like(zeros)) * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + _C.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * _C.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()
