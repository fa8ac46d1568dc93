"""The geometric distribution."""
from .. import _C
from .._dtype_limits import finfo
from ..autograd.grad_mode import no_grad
from ..nn import functional as F
from . import constraints
from .probs_or_logits import ProbsOrLogits

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits):
    """How often something of probability probs fails before it succeeds."""
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(self._take(probs, logits)[0].shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution "
                             f"{self!r} to be positive but found invalid values:\n{self.probs[~(self.probs > 0)]}")

    mean = property(lambda self: 1 / self.probs - 1)
    mode = property(lambda self: _C.zeros_like(self.probs))
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)

    def sample(self, sample_shape=_C.Size()):
        tiny = finfo(self.probs.dtype).tiny
        with no_grad():
            u = _C.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device).clamp(min=tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = _C.broadcast_tensors([value, self.probs])
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
