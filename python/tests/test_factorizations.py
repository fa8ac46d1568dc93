"""LU, LDL, reflections, exponentials and matrices made of tensors: they multiply back, NumPy's results, gradients."""
import argand as torch
import numpy as np
import pytest
from argand import linalg as L

torch.manual_seed(0)
A, B = torch.randn(2, 4, 4, dtype=torch.float64), torch.randn(2, 4, 3, dtype=torch.float64)
Z = torch.complex(A, A.flip(-1) / 2)
TALL = torch.randn(5, 3, dtype=torch.float64)


def close(got, expected):
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-8, atol=1e-9)


def test_matrix_exp():
    values, vectors = np.linalg.eig(A.numpy())
    expected = (vectors * np.exp(values)[..., None, :]) @ np.linalg.inv(vectors)
    close(torch.matrix_exp(A), expected.real)
    close(L.matrix_exp(torch.diag(torch.tensor([0.0, 1.0, -30.0, 20.0]).double())), np.diag(np.exp([0, 1, -30, 20])))
    assert torch.matrix_exp(torch.full((2, 2), float("nan"))).isnan().all()


def test_tensors_as_matrices():
    x = torch.randn(4, 6, 8, 3, dtype=torch.float64)
    close(L.tensorinv(x), np.linalg.tensorinv(x.numpy()))
    right = torch.randn(4, 6, dtype=torch.float64)
    close(L.tensorsolve(x, right), np.linalg.tensorsolve(x.numpy(), right.numpy()))
    moved = x.movedim(2, 0)
    close(L.tensorsolve(moved, right, dims=(0, 3)), np.linalg.tensorsolve(moved.numpy(), right.numpy(), axes=(0, 3)))


@pytest.mark.parametrize("matrix", [A, Z, TALL])
def test_reflections(matrix):
    a, tau = torch.geqrf(matrix)
    Q = L.householder_product(a, tau)
    expected = np.linalg.qr(matrix.numpy())
    close(Q, expected.Q)
    close(torch.orgqr(a, tau), expected.Q)
    close(a.triu()[..., :matrix.shape[-1], :], expected.R)
    square = torch.ormqr(a, tau, torch.eye(matrix.shape[-2], dtype=matrix.dtype).expand(*matrix.shape[:-1], -1))
    close(square[..., :matrix.shape[-1]], expected.Q)
    close(torch.ormqr(a, tau, matrix, transpose=True)[..., :matrix.shape[-1], :], expected.R)
    close(torch.ormqr(a, tau, matrix.mH, left=False)[..., :matrix.shape[-1]].mH, expected.R)


@pytest.mark.parametrize("matrix", [A, Z, TALL, TALL.t(), torch.zeros(3, 0).double()])
def test_lu(matrix):
    P, low, high = L.lu(matrix)
    close(P @ low @ high, matrix.numpy())
    assert (P.real.sum(-1) == 1).all() and (P.real.sum(-2) == 1).all()
    assert (low.abs() <= 1.5).all()
    LU, pivots = L.lu_factor(matrix)
    assert pivots.dtype == torch.int32
    for got, expected in zip(torch.lu_unpack(LU, pivots), (P, low, high)):
        close(got, expected.numpy())
    same_LU, same_pivots, infos = matrix.lu(get_infos=True)
    assert (same_LU == LU).all() and (same_pivots == pivots).all() and not infos.any()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_lu_solve(left, adjoint):
    for matrix in (A, Z):
        right = B.to(matrix.dtype) if left else B.mT.to(matrix.dtype)
        x = L.lu_solve(*L.lu_factor(matrix), right, left=left, adjoint=adjoint)
        turned = matrix.mH if adjoint else matrix
        close(turned @ x if left else x @ turned, right.numpy())
    close(torch.lu_solve(B, *L.lu_factor(A)), np.linalg.solve(A.numpy(), B.numpy()))
    X, copy = torch.triangular_solve(B, A)
    close(A.triu() @ X, B.numpy())
    close(copy, A.numpy())
    with pytest.raises(RuntimeError, match=r"U\[1,1\] is zero"):
        L.lu_factor(torch.zeros(2, 2))


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("hermitian_", [True, False])
def test_ldl(n, hermitian_):
    for dtype in (torch.float64, torch.complex128):
        x = torch.randn(3, n, n, dtype=dtype)
        x = x + (x.mH if hermitian_ else x.mT)
        for matrix in (x, x - torch.diag_embed(x.diagonal(dim1=-2, dim2=-1))):  # without a diagonal blocks have two rows
            if n % 2 and matrix is not x:
                continue
            right = torch.randn(n, 2, dtype=dtype)
            LD, pivots = L.ldl_factor(matrix.tril(), hermitian=hermitian_)
            close(matrix @ L.ldl_solve(LD, pivots, right, hermitian=hermitian_), np.broadcast_to(right.numpy(), (3, n, 2)))
    assert L.ldl_factor_ex(torch.zeros(2, 2)).info.item() == 1
    with pytest.raises(ValueError, match="expected pivots as linalg.ldl_factor gives them"):
        L.ldl_solve(torch.eye(2), torch.tensor([-1, 2], dtype=torch.int32), torch.ones(2, 1))


@pytest.mark.parametrize("matrix", [A[0], A[0, :3], TALL, Z[0], Z[0, :, :3]])
def test_gradients_of_lu(matrix):
    assert torch.autograd.gradcheck(L.lu, matrix.clone().requires_grad_())
    assert torch.autograd.gradgradcheck(L.lu, matrix.clone().requires_grad_())


@pytest.mark.parametrize("matrix", [A[0], Z[0]])
@pytest.mark.parametrize("upper", [True, False])
def test_gradients_by_triangles_of_cholesky(matrix, upper):
    def triangle(x):
        return (x.triu() if upper else x.tril()) + 3 * torch.eye(4)

    for function in (lambda x: torch.cholesky_solve(torch.ones(2, 4, 2, dtype=x.dtype), triangle(x), upper=upper),
                     lambda x: torch.cholesky_inverse(triangle(x), upper=upper)):
        assert torch.autograd.gradcheck(function, matrix.clone().requires_grad_())
        assert torch.autograd.gradgradcheck(function, matrix.clone().requires_grad_())


def test_an_empty_product_of_reflections_has_a_gradient_of_zeros():
    x = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    L.householder_product(x, torch.ones(0, dtype=torch.float64)).sum().backward()
    assert not x.grad.any()
