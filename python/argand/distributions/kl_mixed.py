"""Divergences of two distributions of different kinds.

The divergence is the mean of -log_prob of q for values of p, less the entropy of p. For all kinds of q here that mean is made of a few
of p: of the values, their squares, their logarithms and their exponentials. Where p has values that q has not, it is infinite.
"""
import math

from .. import _C
from .._functions import broadcast_shapes
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl_registry import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant


def _of_uniform_log(low, high):
    return (_C.xlogy(high, high) - _C.xlogy(low, low)) / (high - low) - 1


def _mean_log(p):
    """The mean of log x."""
    if isinstance(p, Beta):
        return _C.digamma(p.concentration1) - _C.digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _of_uniform_log(p.low, p.high)


def _mean_exp(p, t):
    """The mean of e^(-t x), its Laplace transform."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + t)
    if isinstance(p, Gamma):
        return (1 + t / p.rate).pow(-p.concentration)
    if isinstance(p, Normal):
        return _C.exp(0.5 * (t * p.scale).pow(2) - t * p.loc)
    return (_C.exp(-t * p.low) - _C.exp(-t * p.high)) / (t * (p.high - p.low))


def _ends(d):
    """The least and the greatest value."""
    if isinstance(d, Uniform):
        return d.low, d.high
    low = d.scale if isinstance(d, Pareto) else -math.inf if isinstance(d, (Gumbel, Laplace, Normal)) else 0
    return low, 1 if isinstance(d, (Beta, ContinuousBernoulli)) else math.inf


def _mixed(q_type, *p_types):
    """Registers the mean of -log_prob of q as the divergence of these types."""
    def register(cross_entropy):
        def divergence(p, q):
            result = cross_entropy(p, q) - p.entropy()
            (p_low, p_high), (q_low, q_high) = _ends(p), _ends(q)
            for outside in (p_low < q_low, p_high > q_high):
                if isinstance(outside, _C.Tensor):
                    result = result.masked_fill(outside, math.inf)
            return result
        for p_type in p_types:
            register_kl(p_type, q_type)(divergence)
        return cross_entropy
    return register


@_mixed(Exponential, Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)
def _to_exponential(p, q):
    return q.rate * p.mean - q.rate.log()


@_mixed(Gamma, Beta, Exponential, Pareto, Uniform)
def _to_gamma(p, q):
    a = q.concentration
    return q.rate * p.mean - (a - 1) * _mean_log(p) - a * q.rate.log() + _C.lgamma(a)


@_mixed(Normal, Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)
def _to_normal(p, q):
    squares = p.variance + (p.mean - q.loc).pow(2)
    return 0.5 * squares / q.scale.pow(2) + q.scale.log() + 0.5 * math.log(2 * math.pi)


@_mixed(Gumbel, Exponential, Gamma, Normal, Uniform)
def _to_gumbel(p, q):
    return (p.mean - q.loc) / q.scale + _C.exp(q.loc / q.scale) * _mean_exp(p, q.scale.reciprocal()) + q.scale.log()


@_mixed(Uniform, Beta, ContinuousBernoulli)
def _to_uniform(p, q):
    return (q.high - q.low).log()


@_mixed(Pareto, Uniform)
def _to_pareto(p, q):
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


@_mixed(Beta, Uniform)
def _to_beta(p, q):
    a, b = q.concentration1, q.concentration0
    normalizer = _C.lgamma(a) + _C.lgamma(b) - _C.lgamma(a + b)
    return normalizer - (a - 1) * _mean_log(p) - (b - 1) * _of_uniform_log(1 - p.high, 1 - p.low)


@_mixed(ContinuousBernoulli, Beta, Uniform)
def _to_continuous_bernoulli(p, q):
    return -p.mean * q.logits - _C.log1p(-q.probs) - q._cont_bern_log_norm()


@_mixed(Laplace, Normal)
def _to_laplace(p, q):
    distance = p.loc - q.loc
    mean_distance = (p.scale * math.sqrt(2 / math.pi) * _C.exp(-0.5 * (distance / p.scale).pow(2))
                     + distance * _C.erf(distance / (p.scale * math.sqrt(2))))
    return mean_distance / q.scale + (2 * q.scale).log()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _infinite(p, q):
    return p.mean.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), math.inf)


for _bounded in (Beta, ContinuousBernoulli):
    register_kl(_bounded, Pareto)(_infinite)
for _half in (Exponential, Gamma):
    for _type in (Beta, ContinuousBernoulli, Pareto, Uniform):
        register_kl(_half, _type)(_infinite)
for _whole in (Gumbel, Laplace, Normal):
    for _type in (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform):
        register_kl(_whole, _type)(_infinite)
for _type in (Beta, ContinuousBernoulli, Uniform):
    register_kl(Pareto, _type)(_infinite)
for _type in (Bernoulli, Binomial):
    register_kl(Poisson, _type)(_infinite)
