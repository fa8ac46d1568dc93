"""Linear algebra, as torch.linalg; what is here is what the library has."""
from . import _C
from ._decompositions import LinAlgError, cholesky, det, inv, lstsq, qr, slogdet, solve, solve_triangular  # noqa: F401

vector_norm = _C.linalg_vector_norm


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """Vector norms along dim (of all elements if it is None), and the Frobenius norm of matrices."""
    if ord in (None, "fro"):
        return _C.linalg_vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if isinstance(ord, str) or (dim is not None and not isinstance(dim, int) and len(dim) == 2) or (dim is None and A.dim() == 2):
        raise NotImplementedError(f"linalg.norm: the matrix norm {ord!r} is not supported")
    return _C.linalg_vector_norm(A, ord, dim, keepdim, dtype=dtype)


def vecdot(x, y, *, dim=-1):
    """The sum of conj(x) * y along dim."""
    return (x.conj() * y).sum(dim)


def multi_dot(tensors):
    """The product of several matrices, from left to right."""
    result = tensors[0]
    for t in tensors[1:]:
        result = result @ t
    return result


def cross(input, other, *, dim=-1):
    """The vector products of vectors of 3 along dim."""
    from ._composites import cross as product
    return product(input, other, dim=dim)


def matrix_power(A, n):
    """The matrix n times with itself."""
    from ._composites import matrix_power as power
    return power(A, n)


def vander(x, N=None):
    """The Vandermonde matrix of vectors, powers from 0 on."""
    return x.unsqueeze(-1) ** _C.arange(x.shape[-1] if N is None else N, device=x.device)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Norms of matrices: "fro", and the greatest (or with a minus the least) 1-norm of a column or, with inf, of a row."""
    A = A if dtype is None else A.to(dtype)
    dims = [d % A.dim() for d in dim]
    if ord == "fro":
        return _C.linalg_vector_norm(A, 2, dims, keepdim)
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise NotImplementedError(f"linalg.matrix_norm: ord={ord!r} is not supported")
    summed, chosen = dims if abs(ord) == 1 else dims[::-1]
    sums = A.abs().sum(summed, keepdim=True)
    result = sums.amax(chosen, keepdim=True) if ord > 0 else sums.amin(chosen, keepdim=True)
    return result if keepdim else result.squeeze(tuple(dims))


matmul = _C.matmul
diagonal = _C.diagonal
