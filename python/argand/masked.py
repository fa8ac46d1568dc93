"""Reductions and normalizations of the elements where a mask is True, as torch.masked.

A mask is broadcast to the input, whose dimensions it may not exceed in number; without one all elements count.  Elements that do not
count are replaced by the function's identity in the input's dtype: a reduction of no elements is the identity, or NaN if there is none.
"""
from . import _C, _surface
from ._ignored import harmless, ignored
from ._dtype_limits import iinfo
from .nn.functional import softmin as _softmin

__path__ = []  # PyTorch has modules below it: argand/_surface/masked.txt has them

__all__ = ["amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum", "is_masked_tensor", "log_softmax", "logaddexp",
           "logsumexp", "masked_tensor", "MaskedTensor", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum",
           "var"]

@harmless(obj="there are no masked tensors")
def is_masked_tensor(obj, /):
    """False: there are none."""
    return False


def _whole(input, mask):
    """The mask as booleans in the shape of the input."""
    if mask.dim() > input.dim():
        raise IndexError("expected broadcastable mask (got mask dimensionality higher than of the input)")
    return mask.bool().expand(input.shape)


def _filled(input, mask, identity):
    return input if mask is None else input.masked_fill(~_whole(input, mask), identity)


def _extreme(name, dtype, sign):
    """The identity of maxima (sign -1) and minima (1)."""
    if dtype is _C.bool:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    if dtype.is_floating_point or dtype.is_complex:
        return sign * float("inf")
    return iinfo(dtype).max if sign > 0 else iinfo(dtype).min


def _bounded(name, input, mask, sign):
    return input if mask is None else _filled(input, mask, _extreme(name, input.dtype, sign))


def _dims(input, dim):
    """Dimensions from 0; all for None and for an empty list."""
    if dim is None or dim == () or dim == []:
        return tuple(range(input.dim()))
    n, found = max(input.dim(), 1), []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"dim={d % n} appears multiple times in the list of dims")
        found.append(d % n)
    return tuple(found)


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum over dimensions; 0 of none."""
    return _C.sum(_filled(input, mask, 0), _dims(input, dim), keepdim, dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product over dimensions; 1 of no elements.  As in PyTorch, an empty list of dimensions, unlike an empty tuple, gives the elements."""
    result = _filled(input, mask, 1)
    if isinstance(dim, list) and not dim:
        # harmless(keepdim): no dimension goes away
        return _C.sum(result.unsqueeze(0), 0, dtype=dtype)  # for its dtype
    for d in sorted(_dims(input, dim) or (0,), reverse=True):
        result = result.prod(d, keepdim, dtype=dtype)
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The maximum over dimensions; of none the least number of the dtype, or -inf."""
    return _bounded("amax", input, mask, -1).amax(_dims(input, dim), keepdim).to(dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The minimum over dimensions; of none the greatest number of the dtype, or inf."""
    return _bounded("amin", input, mask, 1).amin(_dims(input, dim), keepdim).to(dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the maximum stands along a dimension, or among all elements: in `dtype`, which is the input's unless it is given."""
    return _bounded("argmax", input, mask, -1).argmax(dim, keepdim).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the minimum stands along a dimension, or among all elements: in `dtype`, which is the input's unless it is given."""
    return _bounded("argmin", input, mask, 1).argmin(dim, keepdim).to(dtype or input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The logarithm of the sum of exponentials over dimensions; -inf of none.  It is rounded to `dtype`, the input's unless it is given."""
    return _bounded("logsumexp", input, mask, -1).logsumexp(_dims(input, dim), keepdim).to(dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The norm of vectors over dimensions; of none 0, or inf for ord=-inf."""
    identity = float("inf") if ord == float("-inf") else 0
    return _C.linalg_vector_norm(_filled(input, mask, identity), ord, _dims(input, dim), keepdim, dtype=dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """What counts, divided by its norm along a dimension, or by eps if that is greater; 0 elsewhere."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0).to(dtype or input.dtype) / length.clamp_min(eps)


def _count(input, dims, keepdim, mask):
    """How many elements count, over dimensions."""
    return _C.sum(_C.ones_like(input, dtype=_C.int64) if mask is None else _whole(input, mask), dims, keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean over dimensions; NaN of none."""
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise ValueError(f"mean(): Could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must be either a floating point "
                         f"or complex dtype. Got: {wanted}")
    if mask is None:
        return _C.mean(input, _dims(input, dim), keepdim, dtype=dtype)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, _dims(input, dim), keepdim, mask)


@ignored(dtype="the result is in the dtype of the input, as in PyTorch")
def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median along a dimension, in the input's dtype, NaN left out; NaN of none, which is a ValueError of integers."""
    if input.dtype.is_floating_point:
        return _filled(input, mask, float("nan")).nanmedian(dim, keepdim).values
    if mask is not None and not _whole(input, mask).any(dim).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return _filled(input.double(), mask, float("nan")).nanmedian(dim, keepdim).values.to(input.dtype)


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    dims, wanted = _dims(input, dim), dtype or input.dtype
    wide = input.to(wanted if wanted.is_floating_point or wanted.is_complex else _C.get_default_dtype())
    count = _count(input, dims, True, mask)
    off = _filled(wide - _C.sum(_filled(wide, mask, 0), dims, True) / count, mask, 0)
    result = _C.sum(off * off.conj(), dims, True) / (count.double() - correction).clamp_min(0)  # which may be no integer
    return (result if keepdim else result.squeeze(dims)).to(dtype or wide.dtype)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance over dimensions: squares of distances from the mean, whose sum is divided by their number less `correction` (1, or 0 if
    unbiased is False); NaN of none."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The root of var()."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def cumsum(input, dim, *, dtype=None, mask=None):
    """Sums of all elements up to each along a dimension, in `dtype`, which is the input's unless it is given."""
    return _filled(input, mask, 0).cumsum(dim, dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """Products of all elements up to each along a dimension, in `dtype`, which is the input's unless it is given."""
    return _filled(input, mask, 1).cumprod(dim, dtype=dtype or input.dtype)


def softmax(input, dim, *, dtype=None, mask=None):
    """softmax along a dimension of what counts; 0 elsewhere, NaN where nothing counts."""
    return _bounded("softmax", input, mask, -1).softmax(dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """log_softmax along a dimension of what counts; -inf elsewhere, NaN where nothing counts."""
    return _bounded("log_softmax", input, mask, -1).log_softmax(dim, dtype=dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmin along a dimension of what counts; 0 elsewhere, NaN where nothing counts."""
    return _softmin(_bounded("softmin", input, mask, 1), dim, dtype=dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(e^input + e^other), each with a mask of its own; -inf where neither counts."""
    both = (_bounded("logaddexp", x, m, -1) for x, m in ((input, input_mask), (other, other_mask)))
    return _C.logaddexp(*both).to(dtype or input.dtype)


__getattr__, __dir__ = _surface.of(__name__)
