"""The categorical distribution over one-hot vectors."""
from .. import _C
from ..nn import functional as F
from . import constraints
from .categorical import Categorical
from .probs_or_logits import OfCategorical

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OfCategorical):
    """A Categorical whose classes are vectors with a single 1."""
    arg_constraints = Categorical.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    mean = property(lambda self: self.probs)
    mode = property(lambda self: self._one_hot(self._categorical.mode))
    variance = property(lambda self: self.probs * (1 - self.probs))

    def _one_hot(self, classes):
        return F.one_hot(classes, self._event_shape[0]).to(self.probs.dtype)

    def sample(self, sample_shape=_C.Size()):
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self._event_shape[0]
        values = _C.eye(n, dtype=self.probs.dtype, device=self.probs.device).view(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Its samples have the gradient of the probabilities."""
    has_rsample = True

    def rsample(self, sample_shape=_C.Size()):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
