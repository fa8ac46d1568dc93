"""Decompositions of matrices and what follows from them, written in ops: a loop over columns, batches and gradients included.
They are for small matrices: a step of the loop is a few launches.
"""
import collections

from . import _C

LstsqResult = collections.namedtuple("linalg_lstsq", "solution residuals rank singular_values")
QR = collections.namedtuple("linalg_qr", "Q R")
SlogDet = collections.namedtuple("linalg_slogdet", "sign logabsdet")


class LinAlgError(RuntimeError):
    """A matrix has not what an operation needs: it is singular, or not positive-definite."""


def _checked(A, name, square=False):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.dtype not in (_C.float32, _C.float64):
        raise NotImplementedError(f"{name}: expected float32 or float64, got {A.dtype}")
    if square and A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    return A


def _reflections(A):
    """(unit vectors v with (1 - 2 v v^T) ... A = R, R, how many of them turn anything): Householder's, signs as LAPACK's."""
    rows, columns = A.shape[-2:]
    vectors, R, turned = [], A, 0
    for j in range(min(rows - 1, columns)):
        x = R[..., j:, j]
        tail = (x[..., 1:].detach() != 0).any(-1, keepdim=True)  # a column that is done already is left as it is
        safe = _C.where(tail, x, _C.ones_like(x))
        length = safe.norm(dim=-1, keepdim=True)
        head = safe[..., :1] + _C.where(safe[..., :1] < 0, -length, length)
        v = _C.cat([head, safe[..., 1:]], -1)
        v = _C.where(tail, v / v.norm(dim=-1, keepdim=True), _C.zeros_like(v))
        v = _C.cat([v.new_zeros((*v.shape[:-1], j)), v], -1).unsqueeze(-1)
        R = R - 2 * v @ (v.transpose(-2, -1) @ R)
        vectors.append(v)
        turned = turned + tail.squeeze(-1)
    return vectors, R, turned


def qr(A, mode="reduced", *, out=None):
    """A = Q R with orthonormal columns of Q and a triangle R; mode: "reduced", "complete" (Q square), or "r" (R alone)."""
    _checked(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    rows, columns = A.shape[-2:]
    vectors, R, _ = _reflections(A)
    width = rows if mode == "complete" else min(rows, columns)
    R = R[..., :width, :].triu()
    if mode == "r":
        return QR(A.new_empty(0), R)
    Q = _C.eye(rows, width, dtype=A.dtype, device=A.device).expand(*A.shape[:-2], rows, width)
    for v in reversed(vectors):
        Q = Q - 2 * v @ (v.transpose(-2, -1) @ Q)
    return QR(Q, R)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A X = B (left=False: X A = B) for a triangle A; what lies on its other side is not read."""
    _checked(A, "linalg.solve_triangular", square=True)
    if not left:
        return solve_triangular(A.transpose(-2, -1), B.transpose(-2, -1), upper=not upper,
                                unitriangular=unitriangular).transpose(-2, -1)
    return _upper(A, B, unitriangular) if upper else _lower(A, B, unitriangular)


# By halves: twice as many products as rows, most of the work in the large ones.
def _lower(A, B, unit):
    n, half = A.shape[-1], A.shape[-1] // 2
    if n < 2:
        return B if unit or n == 0 else B / A
    first = _lower(A[..., :half, :half], B[..., :half, :], unit)
    last = _lower(A[..., half:, half:], B[..., half:, :] - A[..., half:, :half] @ first, unit)
    return _joined(first, last)


def _upper(A, B, unit):
    n, half = A.shape[-1], A.shape[-1] // 2
    if n < 2:
        return B if unit or n == 0 else B / A
    last = _upper(A[..., half:, half:], B[..., half:, :], unit)
    first = _upper(A[..., :half, :half], B[..., :half, :] - A[..., :half, half:] @ last, unit)
    return _joined(first, last)


def _joined(first, last):
    batch = max(first.shape[:-2], last.shape[:-2], key=len)
    return _C.cat([first.expand(batch + first.shape[-2:]), last.expand(batch + last.shape[-2:])], -2)


def _singular(R, name):
    zero = (R.detach().diagonal(dim1=-2, dim2=-1) == 0).any(-1)
    if zero.any():
        raise LinAlgError(f"{name}: the input matrix is singular")


def solve(A, B, *, left=True, out=None):
    """X with A X = B (left=False: X A = B); B holds vectors where it has one dimension less."""
    _checked(A, "linalg.solve", square=True)
    if B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1]):
        return solve(A, B.unsqueeze(-1)).squeeze(-1)
    if not left:
        return solve(A.transpose(-2, -1), B.transpose(-2, -1)).transpose(-2, -1)
    Q, R = qr(A)
    _singular(R, "linalg.solve")
    return solve_triangular(R, Q.transpose(-2, -1) @ B, upper=True)


def inv(A, *, out=None):
    """The inverse."""
    _checked(A, "linalg.inv", square=True)
    Q, R = qr(A)
    _singular(R, "linalg.inv")
    return solve_triangular(R, Q.transpose(-2, -1), upper=True)


inverse = inv


def slogdet(A, *, out=None):
    """(the sign of the determinant, the logarithm of its size)"""
    _checked(A, "linalg.slogdet", square=True)
    _, R, turned = _reflections(A)
    diagonal = R.diagonal(dim1=-2, dim2=-1)
    parity = 1 - 2 * (turned % 2) if isinstance(turned, _C.Tensor) else 1
    return SlogDet(diagonal.sign().prod(-1) * parity, diagonal.abs().log().sum(-1))


def det(A, *, out=None):
    """The determinant."""
    _checked(A, "linalg.det", square=True)
    _, R, turned = _reflections(A)
    parity = 1 - 2 * (turned % 2) if isinstance(turned, _C.Tensor) else 1
    return R.diagonal(dim1=-2, dim2=-1).prod(-1) * parity


def logdet(input):
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = slogdet(input)
    return _C.where(sign < 0, _C.full_like(size, float("nan")), size)


def cholesky(A, *, upper=False, out=None):
    """The triangle L with L L^T = A (upper: L^T); LinAlgError unless A is positive-definite.  The lower half of A is read."""
    _checked(A, "linalg.cholesky", square=True)
    columns = []
    for j in range(A.shape[-1]):
        column = A[..., j:, j]
        if columns:
            done = _C.stack(columns, -1)
            column = column - (done[..., j:, :] @ done[..., j, :].unsqueeze(-1)).squeeze(-1)
        if not (column[..., 0] > 0).all():
            raise LinAlgError(f"linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
                              f"(the leading minor of order {j + 1} is not positive-definite).")
        column = column / column[..., :1].sqrt()
        columns.append(_C.cat([column.new_zeros((*column.shape[:-1], j)), column], -1))
    L = _C.stack(columns, -1) if columns else A
    return L.transpose(-2, -1) if upper else L


def cholesky_solve(B, L, upper=False, *, out=None):
    """X with A X = B, for the triangle L of A."""
    low = L.transpose(-2, -1) if upper else L
    return solve_triangular(low.transpose(-2, -1), solve_triangular(low, B, upper=False), upper=True)


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of A, for the triangle L of A."""
    return cholesky_solve(_C.eye(L.shape[-1], dtype=L.dtype, device=L.device).expand(L.shape), L, upper)


def lstsq(A, B, rcond=None, *, driver=None):
    """X that makes A X - B least, and least itself where there are several; A has full rank.  Rank and singular values are not
    computed."""
    _checked(A, "linalg.lstsq")
    vectors = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    right = B.unsqueeze(-1) if vectors else B
    rows, columns = A.shape[-2:]
    residuals = A.new_empty(0)
    if rows >= columns:
        Q, R = qr(A)
        _singular(R, "linalg.lstsq")
        X = solve_triangular(R, Q.transpose(-2, -1) @ right, upper=True)
        if rows > columns and driver is not None and driver != "gelsy":  # LAPACK's default does not return them
            residuals = (A @ X - right).pow(2).sum(-2)
            residuals = residuals.squeeze(-1) if vectors else residuals
    else:
        Q, R = qr(A.transpose(-2, -1))
        _singular(R, "linalg.lstsq")
        X = Q @ solve_triangular(R.transpose(-2, -1), right, upper=False)
    return LstsqResult(X.squeeze(-1) if vectors else X, residuals, A.new_empty(0).long(), A.new_empty(0))


METHODS = {"inverse": inv, "det": det, "logdet": logdet, "slogdet": slogdet, "cholesky_solve": cholesky_solve,
           "cholesky_inverse": cholesky_inverse}
for _name, _function in METHODS.items():
    setattr(_C.Tensor, _name, _function)
