"""Singular values of large matrices of low rank, by products with random ones (Halko, Martinsson and Tropp 2011)."""
from .. import _C
from .._overridable import make_overridable


def _basis(A, q, niter, M):
    """Orthonormal columns [..., m, q] whose space nearly holds A - M's columns: algorithm 4.4."""
    def times(x):
        return A @ x if M is None else A @ x - M @ x

    def adjoint_times(x):
        return A.mH @ x if M is None else A.mH @ x - M.mH @ x

    Q = _C.linalg_qr(times(_C.randn(A.shape[-1], q, dtype=A.dtype, device=A.device))).Q
    for _ in range(niter):
        Q = _C.linalg_qr(times(_C.linalg_qr(adjoint_times(Q)).Q)).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """The q largest singular values of A - M and their vectors U, S, V, nearly; niter more passes make them nearer."""
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    M = M if M is None else M.expand(A.shape)
    if A.shape[-2] < A.shape[-1]:  # the basis is that of the longer side
        V, S, U = svd_lowrank(A.mH, q, niter, M if M is None else M.mH)
        return U, S, V
    Q = _basis(A, q, niter, M)
    U, S, Vh = _C.linalg_svd(Q.mH @ A if M is None else Q.mH @ A - Q.mH @ M, full_matrices=False)
    return Q @ U, S, Vh.mH


def pca_lowrank(A, q=None, center=True, niter=2):
    """Principal components: svd_lowrank of A, its rows less their mean with center; q is min(6, m, n) by default."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"pca_lowrank: q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)


make_overridable(globals(), ("pca_lowrank", "svd_lowrank"))
