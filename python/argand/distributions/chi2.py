"""The chi-squared distribution."""
from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of df normal values."""
    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = super().expand(batch_shape, _instance)
        new.concentration, new.rate = self.concentration.expand(new._batch_shape), self.rate.expand(new._batch_shape)
        return new

    df = property(lambda self: self.concentration * 2)
