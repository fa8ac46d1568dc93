"""The Poisson distribution."""
from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """How often something happens in a time in which it happens `rate` times on average."""
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self.rate, = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            return _C.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = _C.broadcast_tensors([self.rate, value])
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    _natural_params = property(lambda self: (_C.log(self.rate),))

    def _log_normalizer(self, x):
        return _C.exp(x)
