"""The continuous Bernoulli distribution."""
import math

from .. import _C
from ..autograd.grad_mode import no_grad
from ..nn import functional as F
from . import constraints
from .exp_family import ExponentialFamily
from .probs_or_logits import ProbsOrLogits
from .utils import clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Values x of [0, 1] whose density goes as probs^x (1 - probs)^(1 - x).

    Near probs = 1/2 the formulas are 0 / 0; between `lims` their Taylor series stand in.
    """
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._take(probs, logits)
        self._lims = lims
        if probs is not None:
            # The check comes first: clamped, anything is right.
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self):
        """The probabilities, away from 0 and 1, where the norm is infinite."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _away(self, probs):
        """A mask that is true where probs is outside of the limits, and probs with the lower limit in all other places."""
        outside = (probs <= self._lims[0]) | (probs > self._lims[1])
        return outside, _C.where(outside, probs, self._lims[0] * _C.ones_like(probs))

    def _cont_bern_log_norm(self):
        outside, p = self._away(self.probs)
        log_norm = _C.log((_C.log1p(-p) - _C.log(p)).abs()) - (1 - 2 * p).abs().log()
        x = (self.probs - 0.5).pow(2)
        return _C.where(outside, log_norm, math.log(2.0) + (4 / 3 + 104 / 45 * x) * x)

    @property
    def mean(self):
        outside, p = self._away(self.probs)
        x = self.probs - 0.5
        return _C.where(outside, p / (2 * p - 1) + 1 / (_C.log1p(-p) - _C.log(p)), 0.5 + (1 / 3 + 16 / 45 * x.pow(2)) * x)

    @property
    def variance(self):
        outside, p = self._away(self.probs)
        x = (self.probs - 0.5).pow(2)
        variance = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / (_C.log1p(-p) - _C.log(p)).pow(2)
        return _C.where(outside, variance, 1 / 12 - (1 / 15 + 128 / 945 * x) * x)

    stddev = property(lambda self: self.variance.sqrt())

    def _uniforms(self, sample_shape):
        return _C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            return self.icdf(self._uniforms(sample_shape))

    def rsample(self, sample_shape=_C.Size()):
        return self.icdf(self._uniforms(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = _C.broadcast_tensors([self.logits, value])
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        outside, p = self._away(self.probs)
        cdf = _C.where(outside, (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1), value)
        return cdf.masked_fill(value <= 0, 0.0).masked_fill(value >= 1, 1.0)

    def icdf(self, value):
        outside, p = self._away(self.probs)
        return _C.where(outside, (_C.log1p(-p + value * (2 * p - 1)) - _C.log1p(-p)) / (_C.log(p) - _C.log1p(-p)), value)

    def entropy(self):
        log0, log1 = _C.log1p(-self.probs), _C.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x):
        outside = (x <= math.log(self._lims[0] / (1 - self._lims[0]))) | (x > math.log(self._lims[1] / (1 - self._lims[1])))
        y = _C.where(outside, x, _C.ones_like(x))
        return _C.where(outside, _C.log((y.exp() - 1) / y), 0.5 * x + x.pow(2) / 24 - x.pow(4) / 2880)
