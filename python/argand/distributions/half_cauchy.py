"""The half-Cauchy distribution."""
import math

from .. import _C
from .cauchy import Cauchy
from .folded import Folded

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """The distance of a Cauchy value from its median, 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    mean = property(lambda self: _C.full_like(self.scale, math.inf))
    variance = property(lambda self: self.base_dist.variance)
