"""The Wishart distribution."""
import math
import warnings

from .. import _C
from .._functions import broadcast_shapes
from ..autograd.grad_mode import no_grad
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import OfScaleTril, _one_of_three, _scale_tril_of

__all__ = ["Wishart"]

_TRIES = 3


def _mvdigamma(x, p):
    """The slope of mvlgamma(x, p)."""
    return _C.digamma(x.unsqueeze(-1) - _C.arange(p, dtype=x.dtype, device=x.device) / 2).sum(-1)


class Wishart(OfScaleTril, ExponentialFamily):
    """The sum of the outer products of df normal vectors; df need not be whole, but more than their size less 1."""
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        name, matrix = _one_of_three(covariance_matrix, precision_matrix, scale_tril)
        if name is None:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = df if isinstance(df, _C.Tensor) else _C.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape, event_shape = broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        self.df = df.expand(batch_shape)
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        super().__init__(batch_shape, event_shape, validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2)
        self._unbroadcasted_scale_tril = _scale_tril_of(name, matrix)
        # The squares of the diagonal of Bartlett's decomposition.
        self._dist_chi2 = Chi2(self.df.unsqueeze(-1) - _C.arange(event_shape[-1], dtype=df.dtype, device=df.device))

    @property
    def arg_constraints(self):
        """df is bounded by the size of the matrices."""
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self._event_shape[-1] - 1)}

    def _per_matrix(self, value):
        return value[..., None, None]

    mean = property(lambda self: self._per_matrix(self.df) * self.covariance_matrix)

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return self._per_matrix(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self):
        diagonal = self.covariance_matrix.diagonal(dim1=-2, dim2=-1)
        return self._per_matrix(self.df) * (self.covariance_matrix.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape=_C.Size()):
        """scale_tril A A' scale_tril', where A has roots of chi-squared values on its diagonal and normal ones below."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        below = _C.randn(roots.shape[:-1] + (p * (p - 1) // 2,), dtype=roots.dtype, device=roots.device)
        row, column = _C.tril_indices(p, p, offset=-1).to(roots.device)
        factor = roots.diag_embed(dim1=-2, dim2=-1)
        factor[..., row, column] = below
        factor = self._unbroadcasted_scale_tril @ factor
        return factor @ factor.mT

    def rsample(self, sample_shape=_C.Size(), max_try_correction=None):
        """Samples that rounding left singular are drawn again, up to max_try_correction times."""
        tries = _TRIES if max_try_correction is None else max_try_correction
        if tries:
            # PyTorch first draws all that are good once more. For its stream so do we.
            with no_grad():
                self._bartlett_sampling(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        for _ in range(tries):
            with no_grad():
                good = self.support.check(sample)
            if good.all():
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            sample = _C.where(self._per_matrix(good), sample, self._bartlett_sampling(sample_shape))
        return sample

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._event_shape[-1]
        trace = _C.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        log_det = _C.linalg_slogdet(value)[1]  # a Cholesky factor would read one triangle alone, and have no gradient by the other
        return (-self.df * (0.5 * p * math.log(2) + self._half_log_det()) - _C.mvlgamma(self.df / 2, p)
                + 0.5 * (self.df - p - 1) * log_det - 0.5 * trace)

    def entropy(self):
        p, half = self._event_shape[-1], self.df / 2
        return ((p + 1) * (0.5 * p * math.log(2) + self._half_log_det()) + _C.mvlgamma(half, p)
                - 0.5 * (self.df - p - 1) * _mvdigamma(half, p) + half * p)

    _natural_params = property(lambda self: (-0.5 * self.precision_matrix, 0.5 * (self.df - self._event_shape[-1] - 1)))

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half = y + 0.5 * (p + 1)
        return -half * _C.linalg_slogdet(-x)[1] + _C.mvlgamma(half, p)
