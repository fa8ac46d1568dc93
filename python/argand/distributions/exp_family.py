"""The base of exponential families."""
from ..autograd import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Distributions whose density is exp(<t(x), theta> - F(theta) + k(x)).

    theta are the _natural_params, F is the _log_normalizer(), whose gradient is the mean of t(x), and the mean of k(x) is the
    _mean_carrier_measure; entropy and divergence follow.
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def _mean_statistics(self):
        """theta, F(theta) and its gradient."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        return params, normalizer, grad(normalizer.sum(), params, create_graph=True)

    def entropy(self):
        result = -self._mean_carrier_measure
        params, normalizer, means = self._mean_statistics()
        result = result + normalizer
        for param, mean in zip(params, means):
            inner = -param * mean
            result = result + inner.reshape(self._batch_shape + (-1,)).sum(-1)
        return result
