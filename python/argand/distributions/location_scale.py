"""The base of distributions that two parameters move and stretch."""
from . import constraints
from .distribution import Distribution


class LocationScale(Distribution):
    """What two parameters move and stretch."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = constraints.as_tensors(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _standard(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (value - self.loc) / self.scale
