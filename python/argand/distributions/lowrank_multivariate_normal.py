"""The multivariate normal distribution with a covariance of low rank and a diagonal."""
import math

from .. import _C
from .._functions import broadcast_shapes
from . import constraints
from .multivariate_normal import OfMatrices, _batch_mahalanobis, _batch_mv, _eye_like
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W, D):
    """The Cholesky factor of I + W' D^-1 W, which is as small as the rank."""
    inner = W.mT @ (W / D.unsqueeze(-1))
    return _C.linalg_cholesky(inner + _eye_like(inner))


def _batch_lowrank_logdet(W, D, capacitance_tril):
    """log |W W' + D|, by the determinant lemma."""
    return 2 * capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W, D, x, capacitance_tril):
    """x' (W W' + D)^-1 x, by Woodbury's formula."""
    return (x.pow(2) / D).sum(-1) - _batch_mahalanobis(capacitance_tril, _batch_mv((W / D.unsqueeze(-1)).mT, x))


class LowRankMultivariateNormal(OfMatrices):
    """Vectors of normal values with the covariance cov_factor cov_factor' + cov_diag, which is never factored as a whole."""
    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != (n,):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(batch_shape + (n,)), cov_diag.expand(batch_shape + (n,))
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, loc.shape[-1:], validate_args)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self.cov_factor.pow(2).sum(-1) + self.cov_diag)

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance matrix."""
        # Scaled so that the diagonal part becomes the identity: the factorized matrix is better conditioned.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        outer = scaled @ scaled.mT
        return self._expanded(root * _C.linalg_cholesky(outer + _eye_like(outer)))

    @lazy_property
    def covariance_matrix(self):
        """The covariance matrix."""
        factor = self._unbroadcasted_cov_factor
        return self._expanded(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance matrix."""
        scaled = self._unbroadcasted_cov_factor / self._unbroadcasted_cov_diag.unsqueeze(-1)
        half = _C.linalg_solve_triangular(self._capacitance_tril, scaled.mT, upper=False)
        return self._expanded(self._unbroadcasted_cov_diag.reciprocal().diag_embed() - half.mT @ half)

    def rsample(self, sample_shape=_C.Size()):
        shape, options = self._extended_shape(sample_shape), (self.loc.dtype, self.loc.device)
        of_factor = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], *options)
        of_diagonal = _standard_normal(shape, *options)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, of_factor) + self._unbroadcasted_cov_diag.sqrt() * of_diagonal

    def _parts(self):
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def _log_det(self):
        return _batch_lowrank_logdet(*self._parts(), self._capacitance_tril)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_lowrank_mahalanobis(*self._parts(), value - self.loc, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self):
        return (0.5 * (self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._log_det())).expand(self._batch_shape)
