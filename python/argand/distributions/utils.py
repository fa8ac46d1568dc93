"""What many distributions share: numbers as tensors, probabilities as logits, values computed once, triangles as vectors."""
import functools
from numbers import Number

from .. import _C
from .._dtype_limits import finfo
from ..autograd.grad_mode import enable_grad
from ..overrides import is_tensor_like

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property", "tril_matrix_to_vec",
           "vec_to_tril_matrix"]

euler_constant = -_C.digamma(_C.ones((), dtype=_C.float64)).item()


def broadcast_all(*values):
    """Numbers and tensors, broadcast to one shape; numbers get the dtype of the first tensor."""
    if not all(isinstance(v, Number) or is_tensor_like(v) or isinstance(v, _C.Tensor) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    if any(not isinstance(v, (_C.Tensor, Number)) for v in values):
        return _C.broadcast_tensors(*(_C.tensor(v) if isinstance(v, Number) else v for v in values))
    first = next((v for v in values if isinstance(v, _C.Tensor)), None)
    options = {"dtype": _C.get_default_dtype()} if first is None else {"dtype": first.dtype, "device": first.device}
    tensors = [v if isinstance(v, _C.Tensor) else _C.tensor(v, **options) for v in values]
    # Tensors of one shape stay the same objects, so that leaves keep their gradients.
    return tuple(tensors if len({t.shape for t in tensors}) <= 1 else _C.broadcast_tensors(tensors))


def _standard_normal(shape, dtype, device):
    zeros = _C.zeros(shape, dtype=dtype, device=device)
    return _C.normal(zeros, _C.ones_like(zeros))


def _sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(*value.shape[:value.dim() - dim], -1).sum(-1)


def clamp_probs(probs):
    """Probabilities kept so far from 0 and 1 that their logits are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """Logarithms of odds of probabilities, or of the probabilities of classes."""
    safe = clamp_probs(probs)
    return _C.log(safe) - _C.log1p(-safe) if is_binary else _C.log(safe)


def logits_to_probs(logits, is_binary=False):
    """The inverse of probs_to_logits()."""
    return _C.sigmoid(logits) if is_binary else _C.softmax(logits, -1)


class lazy_property:
    """A property that is computed at its first read, with gradients enabled, and is an attribute from then on."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The entries of matrices on and below a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    row, column = _C.tril_indices(n, n, diag).to(mat.device)
    return mat[..., row, column]


def vec_to_tril_matrix(vec, diag=0):
    """The inverse of tril_matrix_to_vec(): matrices that are zero above a diagonal."""
    # n (n + 1) / 2 entries and |diag| of the shorter rows: n solves the quadratic equation.
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if abs(round(n) - n) > finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of a "
                         "square D x D matrix.")
    n = round(n)
    row, column = _C.tril_indices(n, n, diag).to(vec.device)
    mat = vec.new_zeros(vec.shape[:-1] + _C.Size((n, n)))
    mat[..., row, column] = vec
    return mat
