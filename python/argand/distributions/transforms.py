"""Invertible functions with the logarithm of their slope."""
import math

from .. import _C
from ..nn import functional as F
from . import constraints
from .distribution import sum_rightmost


class Transform:
    """y = transform(x), x = transform.inv(y); event_dim dimensions belong to one value."""
    bijective, event_dim, sign = True, 0, 1
    domain = codomain = constraints.real

    def __init__(self, cache_size=0):
        self._cache_size, self._last = cache_size, (None, None)

    def __call__(self, x):
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y):
        return self._last[0] if self._cache_size and y is self._last[1] else self._inverse(y)

    @property
    def inv(self):
        """The inverse, a transform."""
        return _Inverse(self)

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, transform):
        super().__init__()
        self._of, self.event_dim, self.sign = transform, transform.event_dim, transform.sign
        self.domain, self.codomain = transform.codomain, transform.domain

    inv = property(lambda self: self._of)

    def _call(self, x):
        return self._of._inv_call(x)

    def _inverse(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)

    def __repr__(self):
        return f"{self._of}.inv"


class ExpTransform(Transform):
    """e^x"""
    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform(Transform):
    """1 / (1 + e^-x)"""
    codomain = constraints.unit_interval

    def _call(self, x):
        return _C.sigmoid(x)

    def _inverse(self, y):
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(Transform):
    """tanh x"""
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return _C.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        # 1 - tanh^2 without its cancellation.
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AffineTransform(Transform):
    """loc + scale * x"""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, _C.Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        slope = (self.scale.abs().log() if isinstance(self.scale, _C.Tensor)
                 else _C.full_like(x, math.log(abs(self.scale))))
        return sum_rightmost(slope.expand(x.shape), self.event_dim)


class ComposeTransform(Transform):
    """One after the other."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.event_dim = max((p.event_dim for p in self.parts), default=0)
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain

    @property
    def sign(self):
        return math.prod(p.sign for p in self.parts)

    def _call(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            after = part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            x = after
        return total if self.parts else _C.zeros_like(x)
