"""The base of distributions with a location and a scale."""
from . import constraints
from .distribution import Distribution


class LocationScale(Distribution):
    """A distribution that `loc` shifts and `scale` stretches."""
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def _standard(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (value - self.loc) / self.scale
