"""The gamma distribution."""
from .. import _C
from .._dtype_limits import finfo
from ..autograd import Function
from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The time until something happens `concentration` times that happens `rate` times in a unit of time."""
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        value = _C._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)  # log_prob of 0 is infinite
        return value

    def log_prob(self, value):
        value = _C.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        return (_C.xlogy(self.concentration, self.rate) + _C.xlogy(self.concentration - 1, value) - self.rate * value
                - _C.lgamma(self.concentration))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a, x = self.concentration, self.rate * value
        if a.requires_grad and _C.is_grad_enabled():
            return _LowerGamma.apply(*_C.broadcast_tensors([a, x]))
        return _C.special_gammainc(a, x)

    def entropy(self):
        a = self.concentration
        return a - self.rate.log() + _C.lgamma(a) + (1 - a) * _C.digamma(a)

    _natural_params = property(lambda self: (self.concentration - 1, -self.rate))

    def _log_normalizer(self, x, y):
        return _C.lgamma(x + 1) + (x + 1) * _C.log(-y.reciprocal())


class _LowerGamma(Function):
    """special.gammainc(a, x) with the slope by a too, which has no formula and is a difference."""

    @staticmethod
    def forward(ctx, a, x):
        ctx.save_for_backward(a, x)
        return _C.special_gammainc(a, x)

    @staticmethod
    def backward(ctx, gradient):
        a, x = ctx.saved_tensors
        a64, x64 = a.double(), x.double()
        step = 1e-4 * a64 / (1 + a64.sqrt())  # small beside a and beside the deviation
        difference = _C.special_gammainc(a64 + step, x64) - _C.special_gammainc(a64 - step, x64)
        return gradient * (difference / (2 * step)).to(a.dtype), gradient * (_C.xlogy(a - 1, x) - x - _C.lgamma(a)).exp()
