"""The multivariate normal distribution."""
import math

from .. import _C
from .._functions import broadcast_shapes
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(bmat, bvec):
    """Matrices times vectors, over batch dimensions."""
    return _C.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL, bx):
    """x' (L L')^-1 x. Dimensions of x beyond those of L become columns of one solution."""
    extra = bx.shape[:max(bx.dim() - bL.dim() + 1, 0)]
    columns = bx.reshape(extra.numel(), *bx.shape[len(extra):]).movedim(0, -1)
    distance = _C.linalg_solve_triangular(bL, columns, upper=False).pow(2).sum(-2).movedim(-1, 0)
    return distance.reshape(extra + distance.shape[1:])


def _precision_to_scale_tril(P):
    """The Cholesky factor of the inverse of P: the upper factor of P, by flipping both ways, is the inverse of its transpose."""
    upper = _C.linalg_cholesky(P.flip(-2, -1)).flip(-2, -1)
    return _C.linalg_solve_triangular(upper.mT, _eye_like(P), upper=False)


def _eye_like(matrix):
    return _C.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def _one_of_three(covariance_matrix, precision_matrix, scale_tril):
    """The name and value of the one that is given."""
    named = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
    given = [(name, value) for name, value in named.items() if value is not None]
    return given[0] if len(given) == 1 else (None, None)


def _scale_tril_of(name, matrix):
    if name == "scale_tril":
        return matrix
    return _C.linalg_cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix)


class OfMatrices(Distribution):
    """What has a matrix, or several of one, for a batch."""

    def _expanded(self, matrix):
        return matrix.expand(self._batch_shape + matrix.shape[-2:])


class OfScaleTril(OfMatrices):
    """What has a covariance, its inverse and its Cholesky factor: one is given, `_unbroadcasted_scale_tril` computed from it once, however
    large the batch, and the others when somebody asks."""

    @lazy_property
    def scale_tril(self):
        """The Cholesky factor of the covariance matrix."""
        return self._expanded(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance matrix."""
        return self._expanded(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance matrix."""
        return self._expanded(_C.cholesky_inverse(self._unbroadcasted_scale_tril))

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


class MultivariateNormal(OfScaleTril):
    """Vectors of normal values with a covariance."""
    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = _one_of_three(covariance_matrix, precision_matrix, scale_tril)
        if name is None:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if matrix.dim() < 2:
            raise ValueError(f"{name + ' matrix' if name == 'scale_tril' else name} must be at least two-dimensional, with optional "
                             "leading batch dimensions")
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.loc = loc.expand(batch_shape + (-1,))
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args)
        self._unbroadcasted_scale_tril = _scale_tril_of(name, matrix)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape))

    def rsample(self, sample_shape=_C.Size()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        return (0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()).expand(self._batch_shape)
