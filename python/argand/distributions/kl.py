"""The Kullback-Leibler divergence of two distributions, for the pairs that have a formula."""
import math

from .. import _C
from ..nn import functional as F
from .bernoulli import Bernoulli
from .categorical import Categorical
from .distribution import sum_rightmost
from .exponential import Exponential
from .geometric import Geometric
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .log_normal import LogNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .uniform import Uniform

_FORMULAS = {}


def register_kl(type_p, type_q):
    """A decorator: the function is kl_divergence() of these types."""
    def register(function):
        _FORMULAS[type_p, type_q] = function
        return function
    return register


def kl_divergence(p, q):
    """The expected log_prob of p less that of q, for values of p."""
    found = [(type(p).__mro__.index(a) + type(q).__mro__.index(b), f) for (a, b), f in _FORMULAS.items()
             if isinstance(p, a) and isinstance(q, b)]
    if not found:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return min(found, key=lambda pair: pair[0])[1](p, q)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = terms.masked_fill((q.probs == 0).expand_as(terms), math.inf).masked_fill((p.probs == 0).expand_as(terms), 0)
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - _C.log1p(-q.probs) / p.probs - q.logits


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * _C.exp(-distance / p.scale) - 1


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    return ((q.high - q.low) / (p.high - p.low)).log().masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    spread = ((p.high - p.low) ** 2 / 12 + ((p.high + p.low) / 2 - q.loc) ** 2) / (2 * q.scale**2)
    return (math.sqrt(2 * math.pi) * q.scale / (p.high - p.low)).log() + spread


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independents with different reinterpreted_batch_ndims")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
