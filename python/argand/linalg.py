"""Linear algebra, as torch.linalg; what is here is what the library has."""
from . import _C

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


matmul = _C.matmul
diagonal = _C.diagonal
