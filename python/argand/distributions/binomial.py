"""The binomial distribution."""
from .. import _C
from ..autograd.grad_mode import no_grad
from ..nn import functional as F
from . import constraints
from .probs_or_logits import ProbsOrLogits

__all__ = ["Binomial"]


class Binomial(ProbsOrLogits):
    """How many of total_count tries succeed, each with probability probs."""
    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        param, self.total_count = self._take(probs, logits, total_count)
        self.total_count = self.total_count.type_as(param)
        super().__init__(param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=_C.Size()):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return _C.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        choices = _C.lgamma(n + 1) - _C.lgamma(value + 1) - _C.lgamma(n - value + 1)
        return choices + value * self.logits + n * F.logsigmoid(-self.logits)

    def entropy(self):
        if self.total_count.max() != self.total_count.min():
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(_C.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        count = int(self.total_count.max())
        if self.total_count.min() != count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._numbers(1 + count, expand)
