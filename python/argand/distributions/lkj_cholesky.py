"""The LKJ distribution of correlations, as their Cholesky factors."""
import math

from .. import _C
from .._dtype_limits import finfo
from ..autograd.grad_mode import no_grad
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of dim x dim correlations whose density goes as their determinant^(concentration - 1).

    Sampled by the onion method of Lewandowski, Kurowicka and Joe (2009): row by row, a direction and the square of a length.
    """
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration, = broadcast_all(concentration)
        # The first row has no length to draw; its 0 is that of the direction, whatever is drawn.
        rows = _C.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        rows = _C.cat([rows.new_zeros((1,)), rows])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(rows + 0.5, marginal.unsqueeze(-1) - 0.5 * rows)
        super().__init__(self.concentration.shape, _C.Size((dim, dim)), validate_args)

    def sample(self, sample_shape=_C.Size()):
        options = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        with no_grad():
            squares = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = _C.randn(self._extended_shape(sample_shape), **options).tril(-1)
            directions = normal / normal.square().sum(-1, keepdim=True).sqrt()
            below = squares.sqrt() * directions.nan_to_num(0)
            diagonal = (1 - below.square().sum(-1)).clamp(min=finfo(below.dtype).tiny).sqrt()
            return below + diagonal.diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.dim - 1
        # Row i of the factor has i ways to turn: its diagonal stands in the density that many times less.
        order = _C.arange(2, self.dim + 1, dtype=self.concentration.dtype, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        alpha = self.concentration + 0.5 * n
        normalizer = 0.5 * n * math.log(math.pi) + _C.mvlgamma(alpha - 0.5, n) - n * _C.lgamma(alpha)
        return (order * diagonal.log()).sum(-1) - normalizer
