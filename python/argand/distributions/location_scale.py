"""The base of distributions that two parameters move and stretch."""
from . import constraints
from .distribution import Distribution


class LocationScale(Distribution):
    """What `loc` moves and `scale` stretches."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def _standard(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (value - self.loc) / self.scale
