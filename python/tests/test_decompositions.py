"""Singular values and eigenvalues, and what follows from them: NumPy's results, and gradients by differences."""
import argand as torch
import numpy as np
import pytest
from argand import linalg as L

torch.manual_seed(0)
A = torch.randn(2, 4, 4, dtype=torch.float64)
Z = torch.complex(A, A.flip(-1) / 2)
TALL = torch.randn(5, 3, dtype=torch.float64)
FLAT = torch.randn(5, 2, dtype=torch.float64) @ torch.randn(2, 4, dtype=torch.float64)  # of rank 2
MATRICES = [A, Z, TALL, TALL.t(), FLAT, torch.eye(3).double(), torch.zeros(2, 3).double(), torch.zeros(0, 3).double()]


def close(got, expected, **tolerance):
    np.testing.assert_allclose(got.numpy(), expected, **{"rtol": 1e-8, "atol": 1e-9, **tolerance})


def hermitian(x):
    return x + x.mH


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("full", [True, False])
def test_svd(matrix, full):
    U, S, Vh = L.svd(matrix, full_matrices=full)
    expected = np.linalg.svd(matrix.numpy(), full_matrices=full)
    assert [tuple(t.shape) for t in (U, S, Vh)] == [t.shape for t in expected]
    close(S, expected[1])
    close(L.svdvals(matrix), expected[1])
    k = S.shape[-1]
    close(U[..., :k] * S.unsqueeze(-2) @ Vh[..., :k, :], matrix.numpy())
    close(U.mH @ U, np.broadcast_to(np.eye(U.shape[-1]), U.mH.shape[:-1] + U.shape[-1:]))
    close(Vh @ Vh.mH, np.broadcast_to(np.eye(Vh.shape[-2]), Vh.shape[:-1] + Vh.shape[-2:-1]))
    U, S, V = torch.svd(matrix)
    close(U * S.unsqueeze(-2) @ V.mH, matrix.numpy())
    assert torch.svd(matrix, compute_uv=False).V.shape == matrix.shape[:-2] + matrix.shape[-1:] * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_results_are_right_to_the_last_digits_of_single_precision(dtype):
    x = torch.randn(60, 60, dtype=dtype)
    close(L.svdvals(x), np.linalg.svd(x.numpy().astype(np.complex128))[1], rtol=1e-6, atol=1e-6)
    U, S, Vh = L.svd(x)
    close(U * S @ Vh, x.numpy(), atol=2e-5)
    eigenvalues, vectors = L.eigh(hermitian(x))
    assert eigenvalues.dtype == torch.float32 and vectors.dtype == dtype
    close(vectors * eigenvalues @ vectors.mH, hermitian(x).numpy(), atol=5e-5)


@pytest.mark.parametrize("matrix", [A, Z, torch.eye(3).double(), torch.zeros(0, 0).double()])
@pytest.mark.parametrize("half", ["L", "U"])
def test_eigh(matrix, half):
    values, vectors = L.eigh(matrix, UPLO=half)
    close(values, np.linalg.eigvalsh(matrix.numpy(), half))
    close(L.eigvalsh(matrix, half), np.linalg.eigvalsh(matrix.numpy(), half))
    read = np.tril(matrix.numpy()) if half == "L" else np.triu(matrix.numpy())
    diagonal = np.einsum("...ii->...i", read).real
    whole = read + read.swapaxes(-2, -1).conj()
    for i in range(matrix.shape[-1]):
        whole[..., i, i] = diagonal[..., i]
    close(vectors * values.unsqueeze(-2) @ vectors.mH, whole)


def by_size(values):
    order = np.lexsort((values.imag.round(6), values.real.round(6)))
    return np.take_along_axis(values, order, -1)


@pytest.mark.parametrize("matrix", [A, Z, FLAT[:4], torch.eye(3).double(), torch.triu(A), torch.zeros(0, 0).double()])
def test_eig(matrix):
    values, vectors = L.eig(matrix)
    expected = np.linalg.eigvals(matrix.numpy()).astype(np.complex128)
    close(torch.from_numpy(by_size(values.numpy())), by_size(expected))
    close(torch.from_numpy(by_size(L.eigvals(matrix).numpy())), by_size(expected))
    close(matrix.to(values.dtype) @ vectors, (vectors * values.unsqueeze(-2)).numpy())
    close(L.vector_norm(vectors, dim=-2), np.ones(values.shape))


def test_what_decompositions_refuse():
    nan = torch.full((2, 2), float("nan"))
    with pytest.raises(L.LinAlgError, match=r"linalg.svd: \(Batch element 1\): .* contained non-finite values"):
        L.svd(torch.stack([torch.eye(2), nan]))
    with pytest.raises(L.LinAlgError, match="should not contain infs or NaNs"):
        L.eig(nan)
    assert L.eigvalsh(nan).isnan().all()
    for function in (L.eig, L.eigvals, L.eigh, L.eigvalsh):
        with pytest.raises(RuntimeError, match="2 by 3 matrices"):
            function(torch.ones(2, 3))
    for function in (L.svd, L.eig, L.eigh, L.pinv):
        with pytest.raises(RuntimeError, match="int64"):
            function(torch.ones(2, 2, dtype=torch.int64))
    for vectors in (lambda z: L.svd(z).U, lambda z: L.eig(z).eigenvectors, lambda z: L.eigh(hermitian(z)).eigenvectors):
        with pytest.raises(RuntimeError, match="up to multiplication by e"):
            vectors(Z.clone().requires_grad_()).imag.sum().backward()


@pytest.mark.parametrize("matrix", MATRICES)
def test_pinv_and_rank(matrix):
    close(L.pinv(matrix), np.linalg.pinv(matrix.numpy(), rcond=1e-14))
    close(torch.pinverse(matrix, 1e-3), np.linalg.pinv(matrix.numpy(), rcond=1e-3))
    close(L.matrix_rank(matrix), np.linalg.matrix_rank(matrix.numpy()))
    close(L.matrix_rank(matrix, atol=1.5), np.linalg.matrix_rank(matrix.numpy(), tol=1.5))
    close(L.matrix_rank(matrix, torch.tensor(0.5)), np.linalg.matrix_rank(matrix.numpy(), tol=0.5))


def test_pinv_of_hermitian_matrices():
    for matrix in (hermitian(A), hermitian(Z), FLAT @ FLAT.mH):
        close(L.pinv(matrix, hermitian=True, rtol=1e-10), np.linalg.pinv(matrix.numpy(), hermitian=True, rcond=1e-10))
        close(L.matrix_rank(matrix, hermitian=True, rtol=1e-10), np.linalg.matrix_rank(matrix.numpy(), tol=1e-8))


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, float("inf"), -float("inf"), "fro", "nuc"])
def test_cond_and_norms(p):
    numpy_order = np.inf if p == float("inf") else -np.inf if p == -float("inf") else p
    close(L.cond(A, p), np.linalg.cond(A.numpy(), numpy_order))
    close(L.cond(Z, p), np.linalg.cond(Z.numpy(), numpy_order))
    if p is None:
        return
    close(L.matrix_norm(Z, p), np.linalg.norm(Z.numpy(), numpy_order, axis=(-2, -1)))
    close(L.norm(A, p, dim=(2, 0), keepdim=True), np.linalg.norm(A.numpy(), numpy_order, axis=(2, 0), keepdims=True))
    close(L.norm(TALL, p), np.linalg.norm(TALL.numpy(), numpy_order))


def test_norm_nuc():
    close(torch.norm(TALL, "nuc"), np.linalg.norm(TALL.numpy(), "nuc"))
    close(torch.nuclear_norm(A, dim=(0, 2)), np.linalg.norm(A.numpy(), "nuc", axis=(0, 2)))
    assert L.cond(torch.zeros(2, 2), 1).item() == float("inf") and L.cond(torch.zeros(0, 0)).item() == 0


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_lstsq_of_matrices_without_full_rank(driver):
    right = torch.randn(5, 2, dtype=torch.float64)
    x, residuals, rank, values = L.lstsq(FLAT, right, driver=driver)
    expected = np.linalg.lstsq(FLAT.numpy(), right.numpy(), rcond=None)
    close(x, expected[0])
    assert rank.item() == expected[2] == 2 and residuals.numel() == 0
    if driver != "gelsy":
        close(values, expected[3])
    with pytest.raises(L.LinAlgError, match="does not have full rank"):
        L.lstsq(torch.zeros(3, 2), torch.ones(3, 1), driver="gels")


# What does not depend on the phases of vectors.
def from_svd(x):
    U, S, Vh = L.svd(x, full_matrices=False)
    return U.abs(), S, Vh.abs(), U @ Vh


def from_full_svd(x):
    U, S, Vh = L.svd(x)
    k = S.shape[-1]
    return U[..., :k].abs(), U[..., :k] @ Vh[..., :k, :]


def from_eigh(x):
    values, vectors = L.eigh(hermitian(x))
    return values, vectors.abs(), L.eigvalsh(hermitian(x), "U")


def from_eig(x):
    values, vectors = L.eig(x)
    return values, vectors.abs(), L.eigvals(x)


@pytest.mark.parametrize("function", [
    from_svd, from_full_svd, L.svdvals, L.pinv, lambda x: L.matrix_norm(x, "nuc"),
    lambda x: torch.svd(x, compute_uv=False).S, lambda x: L.lstsq(x, torch.ones(x.shape[-2], 2, dtype=x.dtype)).solution])
@pytest.mark.parametrize("matrix", [A[0], A[0, :3], TALL, Z[0], Z[0, :, :3]])
def test_gradients(function, matrix):
    assert torch.autograd.gradcheck(function, matrix.clone().requires_grad_())
    assert torch.autograd.gradgradcheck(function, matrix.clone().requires_grad_())


@pytest.mark.parametrize("function", [
    from_eigh, from_eig, lambda x: L.matrix_sqrth(x @ x.mH), lambda x: L.pinv(hermitian(x), hermitian=True)])
@pytest.mark.parametrize("matrix", [A[0], Z[0]])
def test_gradients_of_square_matrices(function, matrix):
    assert torch.autograd.gradcheck(function, matrix.clone().requires_grad_())
    assert torch.autograd.gradgradcheck(function, matrix.clone().requires_grad_())


def test_the_gradient_of_pinv_is_finite_where_singular_values_repeat():
    x = torch.eye(3, 2, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(L.pinv, x)


def test_polar():
    for matrix in (A, Z, TALL):
        U, H = L.polar(matrix)
        close(U @ H, matrix.numpy())
        close(U.mH @ U, np.broadcast_to(np.eye(H.shape[-1]), H.shape))
        assert (L.eigvalsh(H) >= 0).all()
    root = L.matrix_sqrth(Z @ Z.mH)
    close(root @ root, (Z @ Z.mH).numpy())


@pytest.mark.parametrize("shape", [(20, 7), (7, 20), (9, 9)])
def test_low_rank(shape):
    x = torch.randn(2, shape[0], 3, dtype=torch.float64) @ torch.randn(2, 3, shape[1], dtype=torch.float64)
    mean = x.mean(-2, keepdim=True)
    for (U, S, V), expected in ((torch.svd_lowrank(x, q=4), x), (torch.svd_lowrank(x, 4, M=mean), x - mean),
                                (torch.pca_lowrank(x), x - mean)):
        close(U * S.unsqueeze(-2) @ V.mH, expected.numpy())
        close(S, np.linalg.svd(expected.numpy())[1][..., :S.shape[-1]])
    with pytest.raises(ValueError, match="not greater than"):
        torch.pca_lowrank(x, 21)
