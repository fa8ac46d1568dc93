"""Functions that are a few ops of the library, for programs that name them; each is a method of Tensor, too, unless it is listed
in FUNCTIONS_ALONE."""
import builtins
import itertools
import math

from . import _C
from ._decompositions import inv
from ._functions import tensor_split

Tensor = _C.Tensor


# ---- dimensions


def movedim(input, source, destination):
    """A view with dimensions at other places: an int, or several."""
    source, destination = ((d,) if isinstance(d, int) else tuple(d) for d in (source, destination))
    return _movedim(input, source, destination)


_movedim = _C.movedim
moveaxis = movedim


def _dimension_to_split(input, name, low):
    if input.dim() < low:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {low} dimension, but got a tensor with {input.dim()} dimensions!")


def hsplit(input, indices_or_sections):
    """tensor_split() of columns (of elements, of a vector)."""
    _dimension_to_split(input, "hsplit", 1)
    return tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1)


def vsplit(input, indices_or_sections):
    """tensor_split() of rows."""
    _dimension_to_split(input, "vsplit", 2)
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input, indices_or_sections):
    """tensor_split() of the third dimension."""
    _dimension_to_split(input, "dsplit", 3)
    return tensor_split(input, indices_or_sections, 2)


def diagflat(input, offset=0):
    """A matrix with the elements on a diagonal."""
    return _C.diag(input.reshape(-1), offset)


def fill_diagonal_(input, fill_value, wrap=False):
    """Fills the diagonal of a matrix (or of a tensor of equal sizes); wrap: again and again down a tall one."""
    if input.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.dim() > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    sizes, strides = input.shape, input.stride()
    count = min(sizes)
    if wrap and input.dim() == 2 and sizes[0] > sizes[1] + 1:
        count = (sizes[0] * sizes[1] + sizes[1]) // (sizes[1] + 1)
        if input.is_contiguous():
            input.as_strided((count,), (sizes[1] + 1,), input.storage_offset()).fill_(fill_value)
            return input
        return input.copy_(fill_diagonal_(input.contiguous(), fill_value, True))
    input.as_strided((count,), (sum(strides),), input.storage_offset()).fill_(fill_value)
    return input


def select_scatter(input, src, dim, index):
    """A copy with `src` at an index of a dimension."""
    result = input.clone()
    result.select(dim, index).copy_(src)
    return result


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy with `src` in a slice of a dimension."""
    result = input.clone()
    result[(slice(None),) * (dim % input.dim()) + (slice(start, end, step),)].copy_(src)
    return result


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with `src` on a diagonal."""
    result = input.clone()
    result.diagonal(offset, dim1, dim2).copy_(src)
    return result


def unravel_index(indices, shape):
    """The coordinates, a tensor for each dimension, of indices into a tensor of some shape with its elements in one row."""
    found, indices = [], indices.long()
    for size in reversed((shape,) if isinstance(shape, int) else tuple(shape)):
        found.insert(0, indices % size)
        indices = indices.div(size, rounding_mode="floor")
    return tuple(found)


def combinations(input, r=2, with_replacement=False):
    """All choices of r elements of a vector, one a row."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(builtins.range(input.shape[0]), r))
    return input[_C.tensor(rows, dtype=_C.int64, device=input.device)] if rows else input.new_empty((0, r))


# ---- elements


def positive(input):
    """The tensor."""
    if input.dtype is _C.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def ldexp(input, other):
    """input * 2^other"""
    return input * 2.0 ** other


def isreal(input):
    """Where elements have no imaginary part."""
    return input.imag == 0 if input.is_complex() else _C.ones_like(input, dtype=_C.bool)


def is_conj(input):
    """False: conj() computes."""
    return False


is_neg = is_conj


def resolve_conj(input):
    """The tensor: conj() computes."""
    return input


resolve_neg = resolve_conj


def get_device(input):
    """The index of the GPU, -1 on the CPU."""
    return input.get_device()


# ---- products


def kron(input, other):
    """The Kronecker product: `other` times each element of input, side by side."""
    dims = max(input.dim(), other.dim())
    a = input.reshape((1,) * (dims - input.dim()) + tuple(input.shape))
    b = other.reshape((1,) * (dims - other.dim()) + tuple(other.shape))
    pairs = a.reshape([s for size in a.shape for s in (size, 1)]) * b.reshape([s for size in b.shape for s in (1, size)])
    return pairs.reshape([x * y for x, y in zip(a.shape, b.shape)])


def matrix_power(input, n):
    """The matrix n times with itself."""
    if n < 0:
        return matrix_power(inv(input), -n)
    result = None
    while n:
        if n & 1:
            result = input if result is None else result @ input
        input, n = input @ input if n > 1 else input, n >> 1
    return _C.eye(input.shape[-1], dtype=input.dtype, device=input.device).expand(input.shape).clone() if result is None else result


def chain_matmul(*matrices):
    """The product of several matrices."""
    from .linalg import multi_dot
    return multi_dot(matrices)


def renorm(input, p, dim, maxnorm):
    """The tensor with those slices along dim scaled down to maxnorm whose p-norm is greater."""
    others = [d for d in builtins.range(input.dim()) if d != dim % input.dim()]
    norms = _C.linalg_vector_norm(input, p, others, keepdim=True)
    return input * _C.where(norms > maxnorm, maxnorm / (norms + 1e-7), _C.ones_like(norms))


# ---- integrals and statistics


def _widths(y, x, dx, dim):
    if x is None:
        return dx
    if x.dim() == 1:
        x = x.reshape([-1 if d == dim % y.dim() else 1 for d in builtins.range(y.dim())])
    at = dim % y.dim() - y.dim()
    return x.narrow(at, 1, x.shape[at] - 1) - x.narrow(at, 0, x.shape[at] - 1)


def _trapezoids(y, x, dx, dim):
    n = y.shape[dim]
    pairs = y.narrow(dim, 1, max(n - 1, 0)) + y.narrow(dim, 0, max(n - 1, 0)) if n else y
    return pairs * _widths(y, x, dx, dim) / 2


def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along dim by the trapezoidal rule: at the places x, or dx apart."""
    return _trapezoids(y, x, dx, dim).sum(dim)


trapz = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral up to each element."""
    return _trapezoids(y, x, dx, dim).cumsum(dim)


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The values below which the parts q of the elements lie, of all or along dim; NaN where there is one."""
    result = _quantile(input, q, dim, keepdim, interpolation, False)
    return result if out is None else out.copy_(result)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """quantile() of what is not NaN."""
    result = _quantile(input, q, dim, keepdim, interpolation, True)
    return result if out is None else out.copy_(result)


def _quantile(input, q, dim, keepdim, interpolation, ignore_nan):
    if not input.is_floating_point():
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           + interpolation)
    q = q if isinstance(q, Tensor) else _C.tensor(q, dtype=input.dtype, device=input.device)
    if ((q < 0) | (q > 1)).any():
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    dims = input.dim()
    rows = input.reshape(-1) if dim is None or dims == 0 else movedim(input, dim, -1)
    rows, _ = rows.sort(-1)  # NaNs come last
    missing = rows.isnan()
    size = (~missing).sum(-1, keepdim=True) if ignore_nan else _C.full_like(missing.sum(-1, keepdim=True), rows.shape[-1])
    places = q.reshape(-1) * (size - 1).clamp(min=0).to(input.dtype)
    if not ignore_nan:
        places = places.masked_fill(missing.any(-1, keepdim=True), rows.shape[-1] - 1)
    below = {"lower": _C.floor, "higher": _C.ceil, "nearest": _C.round}.get(interpolation, _C.floor)(places)
    result = rows.gather(-1, below.long())
    if interpolation in ("linear", "midpoint"):
        part = places - below if interpolation == "linear" else _C.full_like(places, 0.5)
        result = result.lerp(rows.gather(-1, places.ceil().long()), part)
    # One row of quantiles for each row of elements; their dimension comes first, if there are several.
    if keepdim:
        result = result.reshape([1] * dims + [-1]) if dim is None or dims == 0 else movedim(result.unsqueeze(-2), -2, dim % dims)
    return result.squeeze(-1) if q.dim() == 0 else movedim(result, -1, 0)


def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of variables, a row of observations each."""
    if input.dtype == _C.bool:
        raise NotImplementedError("cov(): bool dtype is not supported for input")
    x = input.reshape(1, -1) if input.dim() < 2 else input
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(_C.get_default_dtype())
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            weights = w.to(x.real.dtype if x.is_complex() else x.dtype) if weights is None else weights * w
    if weights is None:
        total, mean = x.shape[1], x.mean(1, keepdim=True)
        divisor = max(total - correction, 0)
        centered = x - mean
        product = centered @ centered.conj().t()
    else:
        total = weights.sum()
        centered = x - (x * weights).sum(1, keepdim=True) / total
        divisor = (total - correction * ((weights * aweights).sum() / total if aweights is not None else 1)).clamp(min=0)
        product = (centered * weights) @ centered.conj().t()
    return (product / divisor).squeeze()


def corrcoef(input):
    """The correlations of variables, a row of observations each."""
    c = cov(input)
    if c.dim() == 0:
        return c / c
    deviation = c.diagonal().sqrt()
    return (c / deviation[:, None] / deviation[None, :]).clamp(-1, 1)


# ---- sequences


def _window(name, terms):
    def window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False):
        n = window_length if periodic else window_length - 1
        dtype = _C.get_default_dtype() if dtype is None else dtype
        if window_length == 1:
            return _C.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
        angle = _C.arange(window_length, dtype=dtype, device=device) * (2 * math.pi / max(n, 1))
        return sum(c * _C.cos(k * angle) if k else _C.full_like(angle, c) for k, c in enumerate(terms)).requires_grad_(requires_grad)
    window.__name__, window.__doc__ = name, f"The window of cosines of that name, {' '.join(map(str, terms))}."
    return window


hann_window = _window("hann_window", (0.5, -0.5))
blackman_window = _window("blackman_window", (0.42, -0.5, 0.08))


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options):
    """alpha - beta * cos: the window of that name."""
    return _window("hamming_window", (alpha, -beta))(window_length, periodic, **options)


def range(start=0, end=None, step=1, **options):
    """Like arange(), with the end in it; PyTorch calls it deprecated."""
    start, end = (0, start) if end is None else (start, end)
    requires_grad = options.pop("requires_grad", False)
    count = int((end - start) / step) + 1
    values = _C.arange(count, **{"dtype": _C.get_default_dtype(), **options}) * step + start
    return values.requires_grad_(requires_grad)


FUNCTIONS_ALONE = {"range", "hann_window", "hamming_window", "blackman_window", "unravel_index", "combinations", "chain_matmul",
                   "trapezoid", "trapz", "cumulative_trapezoid", "get_device"}
METHODS_ALONE = {"fill_diagonal_"}
_FUNCTIONS = {name: f for name, f in list(globals().items())
              if callable(f) and not name.startswith("_") and getattr(f, "__module__", None) == __name__}
for _name, _function in _FUNCTIONS.items():
    if _name not in FUNCTIONS_ALONE:
        setattr(Tensor, _name, _function)
__all__ = [_name for _name in _FUNCTIONS if _name not in METHODS_ALONE]


# ---- methods


def _method(function):
    setattr(Tensor, function.__name__, function)


@_method
def new(self, *args, device=None):
    """A tensor of the same dtype and device: of some sizes, or of elements that are given."""
    options = {"dtype": self.dtype, "device": self.device if device is None else device}
    if len(args) == 1 and not isinstance(args[0], (int, _C.Size)):
        return _C.alias(args[0]) if isinstance(args[0], Tensor) else _C.tensor(args[0], **options)
    return _C.empty(*(args or (0,)), **options)


@_method
def where(self, condition, y):
    """This tensor where condition holds, y elsewhere."""
    return _C.where(condition, self, y)
