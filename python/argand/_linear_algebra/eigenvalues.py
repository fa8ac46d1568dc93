"""Some eigenvalues at the end of the spectrum, and their vectors, as torch.lobpcg: of matrices with all elements, whose whole
spectrum is found faster than parts of it by iteration.
"""
from .. import _C
from .._ignored import harmless, ignored
from .._overridable import make_overridable

_DIRECT = "all eigenvalues are computed at once, to the dtype's precision: nothing is iterated"


def _hermitian(M):
    return (M + M.mH) / 2


@ignored(tracker="nothing is iterated, so there is nothing to track")
@harmless(iK=_DIRECT, method=_DIRECT, niter=_DIRECT, tol=_DIRECT, ortho_iparams=_DIRECT, ortho_fparams=_DIRECT,
          ortho_bparams=_DIRECT)
def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None,
           ortho_fparams=None, ortho_bparams=None):
    """The k largest (or, with largest=False, smallest) eigenvalues of a symmetric A [..., m, m], A x = e B x, with the vectors [..., m, k],
    for which x^T B x = 1.  B, symmetric and positive definite, is the identity if not given; 3 k may be at most m.
    """
    for name, matrix in (("A", A), ("B", B)):
        if matrix is not None and (matrix.dim() < 2 or matrix.shape[-1] != matrix.shape[-2]):
            raise ValueError(f"lobpcg: expected square matrices, got {name} of shape {tuple(matrix.shape)}")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f'lobpcg: expected method "basic" or "ortho", got {method!r}')
    m = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    if m < 3 * k:
        raise ValueError(f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the number of requested "
                         f"eigenpairs (={k})")
    n = k if n is None and X is None else X.shape[-1] if n is None else n
    if not 0 < k <= n <= m:
        raise ValueError(f"lobpcg: expected 0 < k <= n <= {m}, got k={k}, n={n}")
    M = _hermitian(A)
    if B is None:
        E, V = _C.linalg_eigh(M)
    else:
        L = _C.linalg_cholesky(_hermitian(B))
        left = _C.linalg_solve_triangular(L, M, upper=False)
        E, V = _C.linalg_eigh(_hermitian(_C.linalg_solve_triangular(L.mH, left, upper=True, left=False)))
        V = _C.linalg_solve_triangular(L.mH, V, upper=True)
    if largest is None or largest:
        return E[..., -k:].flip(-1), V[..., -k:].flip(-1)
    return E[..., :k], V[..., :k]


make_overridable(globals(), ("lobpcg",))
