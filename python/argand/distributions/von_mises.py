"""The von Mises distribution."""
import math

from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


def _log_modified_bessel_fn(x, order=0):
    """log of I0 or I1 of positive x, by what is left of them without e^x, which overflows."""
    return x + _C.log(_C.special_i1e(x) if order else _C.special_i0e(x))


class VonMises(Distribution):
    """Angles with the circular analogue of the normal distribution."""
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (self.concentration * _C.cos(value - self.loc) - math.log(2 * math.pi)
                - _log_modified_bessel_fn(self.concentration))

    @lazy_property
    def _proposal_r(self):
        """The parameter of the wrapped Cauchy distribution that is above the density, in float64, as Best and Fisher (1979) have it."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return _C.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc, k, r = (v.expand(shape) for v in (self.loc.double(), self.concentration.double(), self._proposal_r))
            angle, done = _C.zeros_like(loc), _C.zeros(shape, dtype=_C.bool, device=loc.device)
            while not done.all():
                u1, u2, u3 = _C.rand((3,) + shape, dtype=loc.dtype, device=loc.device).unbind()
                z = _C.cos(math.pi * u1)
                cosine = (1 + r * z) / (r + z)
                c = k * (r - cosine)
                accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                angle = _C.where(accept, (u3 - 0.5).sign() * cosine.acos(), angle)
                done = done | accept
            return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """The circular variance: 1 less the length of the mean vector of the angles."""
        ratio = _log_modified_bessel_fn(self.concentration, 1) - _log_modified_bessel_fn(self.concentration)
        return 1 - ratio.exp()
