"""Student's t-distribution."""
import math

from .. import _C
from . import constraints
from .chi2 import Chi2
from .location_scale import LocationScale
from .utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(LocationScale):
    """A normal value divided by a standard deviation that is estimated with df degrees of freedom."""
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    mean = property(lambda self: self.loc.masked_fill(self.df <= 1, math.nan))
    mode = property(lambda self: self.loc)

    @property
    def variance(self):
        variance = self.scale.pow(2) * self.df / (self.df - 2)
        return variance.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape=_C.Size()):
        x = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * (x * _C.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value):
        half = 0.5 * (self.df + 1)
        normalizer = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + _C.lgamma(0.5 * self.df) - _C.lgamma(half))
        return -half * _C.log1p(self._standard(value) ** 2 / self.df) - normalizer

    def entropy(self):
        half = 0.5 * (self.df + 1)
        log_beta = _C.lgamma(0.5 * self.df) + math.lgamma(0.5) - _C.lgamma(half)
        return self.scale.log() + half * (_C.digamma(half) - _C.digamma(0.5 * self.df)) + 0.5 * self.df.log() + log_beta
