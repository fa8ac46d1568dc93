"""Mixtures of distributions of one kind."""
from .. import _C
from ..autograd.grad_mode import no_grad
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component, of those along the last batch dimension of a distribution, chosen by a Categorical."""
    arg_constraints = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        mixtures, components = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(m != c and m != 1 and c != 1 for m, c in zip(reversed(mixtures), reversed(components))):
            raise ValueError(f"`mixture_distribution.batch_shape` ({mixtures}) is not compatible with "
                             f"`component_distribution.batch_shape`({components})")
        classes, last = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if classes != last:
            raise ValueError(f"`mixture_distribution component` ({classes}) does not equal `component_distribution.batch_shape[-1]` "
                             f"({last})")
        self._num_component = last
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(components, component_distribution.event_shape, validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _pad(self, x):
        """With a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x):
        """A value for each component, before the dimensions of the event."""
        return x.reshape(x.shape + (1,) * self._event_ndims)

    def _averaged(self, of_components):
        return (self._pad_mixture_dimensions(self._mixture_distribution.probs) * of_components).sum(-1 - self._event_ndims)

    mean = property(lambda self: self._averaged(self._component_distribution.mean))

    @property
    def variance(self):
        component = self._component_distribution
        return self._averaged(component.variance) + self._averaged((component.mean - self._pad(self.mean)).pow(2))

    def cdf(self, x):
        of_components = self._component_distribution.cdf(self._pad(x))
        return (of_components * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        of_components = self._component_distribution.log_prob(self._pad(x))
        return _C.logsumexp(of_components + _C.log_softmax(self._mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape=_C.Size()):
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            of_components = self._component_distribution.sample(sample_shape)
            # The chosen component, with all elements of its event.
            index = self._pad_mixture_dimensions(chosen.unsqueeze(-1)).expand(chosen.shape + (1,) + self._event_shape)
            return of_components.gather(-1 - self._event_ndims, index).squeeze(-1 - self._event_ndims)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
