"""The categorical distribution."""
from .. import _C
from .._dtype_limits import finfo
from ..autograd.grad_mode import no_grad
from . import constraints
from .probs_or_logits import ProbsOrLogits

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits):
    """A class, 0 to K - 1, by its probability along the last dimension of probs, which need not sum to 1."""
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False

    def __init__(self, probs=None, logits=None, validate_args=None):
        given, = self._take(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{'probs' if probs is not None else 'logits'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    mean = property(lambda self: _C.full(self._batch_shape, float("nan"), dtype=self.probs.dtype, device=self.probs.device))
    variance = mean
    mode = property(lambda self: self.probs.argmax(-1))

    def sample(self, sample_shape=_C.Size()):
        shape = _C.Size(sample_shape)
        with no_grad():
            drawn = _C.multinomial(self.probs.reshape(-1, self._num_events), shape.numel(), True)
            return drawn.t().reshape(self._extended_shape(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = _C.broadcast_tensors([value, self.logits])
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return self._numbers(self._num_events, expand, _C.int64)
