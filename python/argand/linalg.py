"""Linear algebra, as torch.linalg; what is here is what the library has."""
import math as _math

from . import _C
from ._decompositions import LinAlgError, cholesky, det, inv, lstsq, qr, slogdet, solve, solve_triangular  # noqa: F401

cross, vector_norm = _C.linalg_cross, _C.linalg_vector_norm


def _pair(name, A, dim):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions, got shape {tuple(A.shape)}")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple, got {tuple(dim)}")
    rows, columns = (d + A.dim() if d < 0 else d for d in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different, got {tuple(dim)}")
    return rows, columns


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """Of matrices in two dimensions: the Frobenius norm ("fro"), the largest (1) or smallest (-1) sum of absolute values
    of a column, or of a row (inf, -inf)."""
    rows, columns = _pair("linalg.matrix_norm", A, dim)
    if ord == "fro":
        result = _C.linalg_vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    elif ord in (1, -1, _math.inf, -_math.inf):
        summed, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = _C.linalg_vector_norm(A, 1, (summed,), True, dtype=dtype)
        if ord > 0 and sums.shape[over] == 0:
            result = sums.sum(over, True)  # of no rows or columns 0, though there is no smallest
        else:
            result = (_C.amax if ord > 0 else _C.amin)(sums, (over,), True)
        result = result if keepdim else result.squeeze(max(rows, columns)).squeeze(min(rows, columns))
    elif ord in (2, -2, "nuc"):
        raise NotImplementedError(f"linalg.matrix_norm: the norm {ord!r} needs singular values, which are not here")
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return result if out is None else out.copy_(result)


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """With an order, vector_norm of one dimension or matrix_norm of two (of all if dim is None); without, the square root
    of the sum of squares over dim."""
    if dim is not None:
        dim = (dim,) if isinstance(dim, int) else tuple(dim)
    if ord is not None:
        if dim is None and A.dim() not in (1, 2):
            raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                               f"Got {A.dim()}D.")
        if dim is not None and len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dim}")
        if isinstance(ord, str) or (A.dim() if dim is None else len(dim)) == 2:
            return matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    result = _C.linalg_vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return result if out is None else out.copy_(result)


def vecdot(x, y, *, dim=-1):
    """The sum of conj(x) * y along dim."""
    return (x.conj() * y).sum(dim)


def multi_dot(tensors):
    """The product of several matrices, from left to right."""
    result = tensors[0]
    for t in tensors[1:]:
        result = result @ t
    return result


def matrix_power(A, n):
    """The matrix n times with itself."""
    from ._composites import matrix_power as power
    return power(A, n)


def vander(x, N=None):
    """The Vandermonde matrix of vectors, powers from 0 on."""
    return x.unsqueeze(-1) ** _C.arange(x.shape[-1] if N is None else N, device=x.device)


matmul = _C.matmul
diagonal = _C.diagonal
