"""Divergences of multivariate normal distributions, of full and of low rank."""
from .. import _C
from .._functions import broadcast_shapes
from .kl_registry import register_kl
from .lowrank_multivariate_normal import LowRankMultivariateNormal, _batch_lowrank_mahalanobis
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _eye_like


class _Full:
    """A covariance by its Cholesky factor: what a divergence asks of it."""

    def __init__(self, d):
        self._tril = d._unbroadcasted_scale_tril
        self.root, self.diagonal = self._tril, None
        self.log_det = 2 * d._half_log_det()

    def distance(self, x):
        """x' covariance^-1 x"""
        return _batch_mahalanobis(self._tril, x)

    def precision_norm(self, root):
        """The trace of covariance^-1 root root'."""
        return self._whitened(root).pow(2).sum((-2, -1))

    def precision_diagonal(self):
        """The diagonal of covariance^-1."""
        return self._whitened(_eye_like(self._tril)).pow(2).sum(-2)

    def _whitened(self, root):
        batch = broadcast_shapes(self._tril.shape[:-2], root.shape[:-2])
        return _C.linalg_solve_triangular(self._tril.expand(batch + (-1, -1)), root.expand(batch + (-1, -1)), upper=False)


class _LowRank:
    """The same of a factor and a diagonal, by Woodbury's formula: the inverse is that of the diagonal less A' A."""

    def __init__(self, d):
        self.root, self.diagonal, self._capacitance_tril = *d._parts(), d._capacitance_tril
        self._a = _C.linalg_solve_triangular(self._capacitance_tril, self.root.mT / self.diagonal.unsqueeze(-2), upper=False)
        self.log_det = d._log_det()

    def distance(self, x):
        return _batch_lowrank_mahalanobis(self.root, self.diagonal, x, self._capacitance_tril)

    def precision_norm(self, root):
        return (root.pow(2) / self.diagonal.unsqueeze(-1)).sum((-2, -1)) - (self._a @ root).pow(2).sum((-2, -1))

    def precision_diagonal(self):
        return self.diagonal.reciprocal() - self._a.pow(2).sum(-2)


def _covariance(d):
    return _Full(d) if isinstance(d, MultivariateNormal) else _LowRank(d)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        kind = "(Low Rank) " if isinstance(p, LowRankMultivariateNormal) or isinstance(q, LowRankMultivariateNormal) else ""
        raise ValueError(f"KL-divergence between two {kind}Multivariate Normals with different event shapes cannot be computed")
    of_p, of_q = _covariance(p), _covariance(q)
    trace = of_q.precision_norm(of_p.root)
    if of_p.diagonal is not None:
        trace = trace + (of_q.precision_diagonal() * of_p.diagonal).sum(-1)
    return 0.5 * (of_q.log_det - of_p.log_det + trace + of_q.distance(q.loc - p.loc) - p.event_shape[0])
