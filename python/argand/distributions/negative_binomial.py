"""The negative binomial distribution."""
from .. import _C
from ..autograd.grad_mode import no_grad
from ..nn import functional as F
from . import constraints
from .gamma import Gamma
from .probs_or_logits import ProbsOrLogits
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits):
    """How many tries succeed, each with probability probs, before total_count have failed."""
    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        param, self.total_count = self._take(probs, logits, total_count)
        self.total_count = self.total_count.type_as(param)
        super().__init__(param.shape, validate_args=validate_args)

    mean = property(lambda self: self.total_count * _C.exp(self.logits))
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0))
    variance = property(lambda self: self.mean / _C.sigmoid(-self.logits))

    @lazy_property
    def _gamma(self):
        # A total_count of 0 is a Gamma that is always 0, which Gamma itself would refuse.
        return Gamma(self.total_count, _C.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            return _C.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        choices = _C.lgamma(n + value) - _C.lgamma(1 + value) - _C.lgamma(n)
        return n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits) + choices.masked_fill(n + value == 0, 0)
