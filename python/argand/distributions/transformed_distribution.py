"""Distributions of transformed random values."""
from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of a base distribution's values after transforms."""
    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = _as_list(transforms)
        base, transform = base_distribution, ComposeTransform(self.transforms)
        shape, events = base.batch_shape + base.event_shape, len(base.event_shape)
        needs, gives = transform.domain.event_dim, transform.codomain.event_dim
        if len(shape) < needs:
            raise ValueError(f"base_distribution needs to have shape with size at least {needs}, but got {shape}.")
        forward_shape = transform.forward_shape(shape)
        expanded = transform.inverse_shape(forward_shape)
        if expanded != shape:
            base = base.expand(expanded[:len(expanded) - events])
        # Batch dimensions of the base become event dimensions until there are as many as the transforms need.
        self.base_dist = Independent(base, needs - events) if needs > events else base
        cut = len(forward_shape) - max(gives, events + gives - needs)
        super().__init__(forward_shape[:cut], forward_shape[cut:], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        last, events = self.transforms[-1].codomain, len(self._event_shape)
        return constraints.independent(last, events - last.event_dim) if events > last.event_dim else last

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=_C.Size()):
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x

    def _back(self, y):
        for transform in reversed(self.transforms):
            y = transform._inv_call(y)
        return y

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        total, y, events = 0.0, value, len(self._event_shape)
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), events - transform.domain.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value):
        """A probability of the base as one of the result: 1 less it where the transforms decrease."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        x = self._back(value)
        if self.base_dist._validate_args:
            self.base_dist._validate_sample(x)
        return self._monotonize_cdf(self.base_dist.cdf(x))

    def icdf(self, value):
        return self._through(self.base_dist.icdf(self._monotonize_cdf(value)))


def _as_list(transforms):
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
