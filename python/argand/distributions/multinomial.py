"""The multinomial distribution."""
import math

from .. import _C
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .probs_or_logits import OfCategorical

__all__ = ["Multinomial"]


class Multinomial(OfCategorical):
    """How often each class is among total_count drawn from a Categorical."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=_C.Size()):
        shape = _C.Size(sample_shape)
        drawn = self._categorical.sample(_C.Size((self.total_count,)) + shape).movedim(0, -1)
        counts = _C.zeros(self._extended_shape(shape), dtype=drawn.dtype, device=drawn.device)
        return counts.scatter_add_(-1, drawn, _C.ones_like(drawn)).type_as(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = _C.broadcast_tensors([self.logits, value])
        # Impossible classes that were not drawn would give 0 * -inf.
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        return _C.lgamma(value.sum(-1) + 1) - _C.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self):
        # The entropy of all draws in their order, less the mean logarithm of their orders, n! / (x1! x2! ...).
        n = self.total_count
        one = Binomial(n, probs=self.probs)
        counts = one.enumerate_support(expand=False)
        ordered = (_C.exp(one.log_prob(counts)) * _C.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - math.lgamma(n + 1) + ordered
