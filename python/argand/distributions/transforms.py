"""Transforms of random values, most of them invertible, with the logarithm of their Jacobian determinant."""
import copy
import math
from numbers import Number

from .. import _C
from .._functions import broadcast_shapes
from .._dtype_limits import finfo
from ..nn import functional as F
from . import constraints
from .utils import _sum_rightmost, broadcast_all, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
           "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
           "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform", "TanhTransform",
           "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform", "identity_transform"]


class Transform:
    """y = transform(x), x = transform.inv(y); with cache_size 1 the last pair is remembered.

    A subclass has domain and codomain (sets, see constraints), bijective, _call, _inverse and log_abs_det_jacobian; sign (1 or -1) if
    it is monotonic. One that is not bijective has an inverse for which transform(transform.inv(transform(x))) is transform(x).
    """
    bijective = False

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size, self._cached_x_y, self._made_inverse = cache_size, (None, None), None
        super().__init__()

    def __getstate__(self):
        return {**self.__dict__, "_cached_x_y": (None, None), "_made_inverse": None}

    @property
    def event_dim(self):
        """How many of the last dimensions belong to one value."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self):
        """The inverse, a transform, whose inverse this one is."""
        if self._made_inverse is None:
            self._made_inverse = _InverseTransform(self)
        return self._made_inverse

    @property
    def sign(self):
        """1 for what increases, -1 for what decreases."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """The same transform with a cache of its own."""
        if self._cache_size == cache_size:
            return self
        new = copy.copy(self)
        Transform.__init__(new, cache_size)
        return new

    def _parameters(self):
        return {name: value for name, value in vars(self).items() if name not in ("_cache_size", "_cached_x_y", "_made_inverse")}

    def __eq__(self, other):
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        mine, others = self._parameters(), other._parameters()
        return mine.keys() == others.keys() and all(_same(mine[name], others[name]) for name in mine)

    def __hash__(self):
        return hash(type(self))

    def __call__(self, x):
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y):
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """log |dy / dx|, of matrices their determinant."""
        raise NotImplementedError

    def forward_shape(self, shape):
        """The shape of transform(x) for a shape of x."""
        return shape

    def inverse_shape(self, shape):
        """The shape of transform.inv(y) for a shape of y."""
        return shape

    def __repr__(self):
        return f"{type(self).__name__}()"


def _same(a, b):
    equal = a == b
    return bool(equal.all()) if isinstance(equal, _C.Tensor) else bool(equal)


class _InverseTransform(Transform):
    def __init__(self, transform):
        super().__init__(transform._cache_size)
        self._inv = transform

    domain = property(lambda self: self._inv.codomain)
    codomain = property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)
    inv = property(lambda self: self._inv)

    def with_cache(self, cache_size=1):
        return self._inv.with_cache(cache_size).inv

    # The cache is that of the transform.
    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __repr__(self):
        return f"{type(self).__name__}({self._inv!r})"


def _widened(constraint, event_dim):
    return constraints.independent(constraint, event_dim - constraint.event_dim) if event_dim > constraint.event_dim else constraint


class ComposeTransform(Transform):
    """Transforms applied one after the other."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def domain(self):
        if not self.parts:
            return constraints.real
        # What the last gives, followed back to the first; each may need more dimensions than it is given.
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, event_dim)

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, event_dim)

    bijective = property(lambda self: all(part.bijective for part in self.parts))
    sign = property(lambda self: math.prod(part.sign for part in self.parts))

    @property
    def inv(self):
        if self._made_inverse is None:
            self._made_inverse = ComposeTransform([part.inv for part in reversed(self.parts)], self._cache_size)
            self._made_inverse._made_inverse = self
        return self._made_inverse

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return _C.zeros_like(x)
        total, event_dim = 0, self.domain.event_dim
        for part in self.parts:
            after = y if part is self.parts[-1] else part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, after), event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        return f"{type(self).__name__}(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


identity_transform = ComposeTransform([])


def _need_dims(shape, dims):
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")


class IndependentTransform(Transform):
    """A transform whose last batch dimensions are event dimensions."""

    def __init__(self, base_transform, reinterpreted_batch_ndims, cache_size=0):
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform.with_cache(cache_size), reinterpreted_batch_ndims

    domain = property(lambda self: constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims))
    codomain = property(lambda self: constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims))
    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    def _call(self, x):
        _need_dims(x.shape, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y):
        _need_dims(y.shape, self.codomain.event_dim)
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x, y):
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Values of in_shape in out_shape, which has as many elements."""
    bijective = True

    def __init__(self, in_shape, out_shape, cache_size=0):
        super().__init__(cache_size)
        self.in_shape, self.out_shape = _C.Size(in_shape), _C.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")

    domain = property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = property(lambda self: constraints.independent(constraints.real, len(self.out_shape)))

    def _call(self, x):
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    @staticmethod
    def _reshaped(shape, before, after):
        _need_dims(shape, len(before))
        cut = len(shape) - len(before)
        if shape[cut:] != before:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {before}")
        return shape[:cut] + after

    def forward_shape(self, shape):
        return self._reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return self._reshaped(shape, self.out_shape, self.in_shape)


class _OfNumbers(Transform):
    """What increases, on each number alone."""
    domain, bijective, sign = constraints.real, True, 1


class ExpTransform(_OfNumbers):
    """e^x"""
    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x^exponent"""
    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent, = broadcast_all(exponent)

    sign = property(lambda self: self.exponent.sign())

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def _inside_unit(y):
    limits = finfo(y.dtype)
    return y.clamp(min=limits.tiny, max=1 - limits.eps)


def _clipped_sigmoid(x):
    return _inside_unit(_C.sigmoid(x))


class SigmoidTransform(_OfNumbers):
    """1 / (1 + e^-x), kept so far from 0 and 1 that its inverse is finite."""
    codomain = constraints.unit_interval

    def _call(self, x):
        return _clipped_sigmoid(x)

    def _inverse(self, y):
        y = _inside_unit(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_OfNumbers):
    """log(1 + e^x)"""
    codomain = constraints.positive

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class TanhTransform(_OfNumbers):
    """tanh x"""
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return _C.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        # 1 - tanh^2 without its cancellation.
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|, of which the inverse is the positive one."""
    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """loc + scale * x"""
    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    @property
    def domain(self):
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    codomain = domain

    @property
    def sign(self):
        return self.scale.sign() if isinstance(self.scale, _C.Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        slope = _C.full_like(x, math.log(abs(self.scale))) if isinstance(self.scale, Number) else self.scale.abs().log()
        return _sum_rightmost(slope.expand(x.shape), self._event_dim)

    def forward_shape(self, shape):
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CorrCholeskyTransform(Transform):
    """D (D - 1) / 2 numbers as the Cholesky factor of a D x D correlation.

    tanh makes partial correlations of them; each of a row takes its part of what the ones before it left of the length 1.
    """
    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=eps - 1, max=1 - eps), diag=-1)
        left = (1 - r * r).sqrt().cumprod(-1)
        return (r + _C.eye(r.shape[-1], dtype=r.dtype, device=r.device)) * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = F.pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        return _C.atanh(tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt())

    def log_abs_det_jacobian(self, x, y):
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        return 0.5 * left.log().sum(-1) - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape):
        _need_dims(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape):
        _need_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return shape[:-2] + (d * (d - 1) // 2,)


class SoftmaxTransform(Transform):
    """Probabilities by their logits, of which many give the same."""
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        return _C.softmax(x, -1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        _need_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """K - 1 numbers as K probabilities: each number says which part of what is left is broken off. Zeros give equal ones."""
    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    @staticmethod
    def _log_pieces(x):
        """How many pieces are still to come: broken off evenly, one is 1 / pieces of what is left."""
        return _C.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x):
        z = _clipped_sigmoid(x - self._log_pieces(x))
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        broken = y[..., :-1]
        left = (1 - broken.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return broken.log() - left.log() + self._log_pieces(broken)

    def log_abs_det_jacobian(self, x, y):
        x = x - self._log_pieces(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


def _with_diagonal(x, diagonal):
    return x.tril(-1) + diagonal.diag_embed()


class LowerCholeskyTransform(Transform):
    """Matrices without what is above their diagonal, which becomes positive by exp."""
    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return _with_diagonal(x, x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y):
        return _with_diagonal(y, y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """The products of LowerCholeskyTransform's matrices with their transposes."""
    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(_C.linalg_cholesky(y))


class _Parts(Transform):
    """A transform for each part along a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("tseq: expected transforms")
        super().__init__(cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq), dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def with_cache(self, cache_size=1):
        new = super().with_cache(cache_size)
        if new is not self:
            new.transforms = [t.with_cache(cache_size) for t in self.transforms]
        return new

    def _parts(self, value):
        raise NotImplementedError

    def _need_length(self, value, length):
        if not -value.dim() <= self.dim < value.dim() or value.shape[self.dim] != length:
            raise AssertionError(f"expected {length} along dimension {self.dim}, got {value.shape}")

    def _joined(self, parts):
        raise NotImplementedError

    def _call(self, x):
        return self._joined([t(part) for t, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y):
        return self._joined([t._inv_call(part) for t, part in zip(self.transforms, self._parts(y))])

    def _log_dets(self, x, y):
        return [t.log_abs_det_jacobian(*parts) for t, *parts in zip(self.transforms, self._parts(x), self._parts(y))]


class CatTransform(_Parts):
    """A transform for each of the parts of `lengths` along a dimension."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.transforms)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"{len(self.transforms)} transforms and {len(self.lengths)} lengths")

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths))
    domain = property(lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths))
    codomain = property(lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths))

    def _parts(self, value):
        self._need_length(value, self.length)
        return value.split(self.lengths, self.dim)

    def _joined(self, parts):
        return _C.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        log_dets = [_sum_rightmost(log_det, self.event_dim - t.event_dim)
                    for t, log_det in zip(self.transforms, self._log_dets(x, y))]
        # Parts of one value are summed, parts of the batch stand one after the other.
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return _C.cat(log_dets, dim) if dim < 0 else sum(log_dets)


class StackTransform(_Parts):
    """A transform for each index of a dimension."""

    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))

    def _parts(self, value):
        self._need_length(value, len(self.transforms))
        return value.unbind(self.dim)

    def _joined(self, parts):
        return _C.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        return self._joined(self._log_dets(x, y))


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution."""
    bijective, codomain, sign = True, constraints.unit_interval, 1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
