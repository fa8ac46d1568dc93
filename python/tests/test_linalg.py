"""Decompositions: they multiply back, follow LAPACK's signs (NumPy's), and their gradients are right."""
import argand as torch
import numpy as np
import pytest
from argand import linalg as L

torch.manual_seed(0)
A, B = torch.randn(2, 4, 4, dtype=torch.float64), torch.randn(2, 4, 3, dtype=torch.float64)
S = A @ A.transpose(-2, -1) + torch.eye(4, dtype=torch.float64)
TALL = torch.randn(5, 3, dtype=torch.float64)


def close(got, expected):
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("matrix", [A, TALL, TALL.t(), torch.eye(3, dtype=torch.float64), torch.zeros(3, 3, dtype=torch.float64),
                                    torch.ones(3, 1, dtype=torch.float64)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(matrix, mode):
    Q, R = L.qr(matrix, mode)
    expected = np.linalg.qr(matrix.numpy(), mode)
    close(Q, expected.Q)
    close(R, expected.R)
    close(L.qr(matrix, "r").R, np.linalg.qr(matrix.numpy(), "r"))


def test_what_qr_refuses():
    with pytest.raises(RuntimeError, match="unrecognized mode 'full'"):
        L.qr(A, "full")
    with pytest.raises(RuntimeError, match="float16"):
        L.qr(torch.eye(2).half())
    with pytest.raises(RuntimeError, match="not computed when mode='r'"):
        L.qr(TALL.clone().requires_grad_(), "r").R.sum().backward()


def test_systems():
    close(L.solve(A, B), np.linalg.solve(A.numpy(), B.numpy()))
    close((A @ L.solve(A, B[..., 0]).unsqueeze(-1)).squeeze(-1), B[..., 0].numpy())
    close(L.solve(A, B.transpose(-2, -1), left=False) @ A, B.transpose(-2, -1).numpy())
    close(L.inv(A), np.linalg.inv(A.numpy()))
    close(A.inverse(), torch.inverse(A).numpy())
    close(torch.matrix_power(A, -2), np.linalg.matrix_power(A.numpy(), -2))
    for upper in (True, False):
        half = A.triu() if upper else A.tril()
        close(half @ L.solve_triangular(A, B, upper=upper), B.numpy())
        ones = half - torch.diag_embed(half.diagonal(dim1=-2, dim2=-1)) + torch.eye(4)
        close(ones @ L.solve_triangular(A, B, upper=upper, unitriangular=True), B.numpy())
    for matrix in (TALL, TALL.t()):
        right = torch.ones(matrix.shape[0], 2, dtype=torch.float64)
        close(L.lstsq(matrix, right).solution, np.linalg.lstsq(matrix.numpy(), right.numpy(), rcond=None)[0])
        close(L.lstsq(matrix, right[:, 0]).solution, np.linalg.lstsq(matrix.numpy(), right[:, 0].numpy(), rcond=None)[0])
    with pytest.raises(L.LinAlgError, match="singular"):
        L.inv(torch.zeros(2, 2))
    with pytest.raises(RuntimeError, match="5 by 3 matrices"):
        L.solve(TALL, TALL)


def test_determinants():
    for matrix in (A, S, torch.eye(3, dtype=torch.float64)[[1, 0, 2]], torch.diag(torch.tensor([1.0, -2.0, 3.0]).double()),
                   torch.tensor([[-2.0]]).double()):
        close(L.det(matrix), np.linalg.det(matrix.numpy()))
        for got, expected in zip(L.slogdet(matrix), np.linalg.slogdet(matrix.numpy())):
            close(got, expected)
    close(torch.logdet(S), np.log(np.linalg.det(S.numpy())))
    assert torch.logdet(torch.diag(torch.tensor([1.0, -2.0]))).isnan()


def test_cholesky():
    close(L.cholesky(S), np.linalg.cholesky(S.numpy()))
    close(L.cholesky(S, upper=True), np.linalg.cholesky(S.numpy()).swapaxes(-2, -1))
    close(torch.cholesky_solve(B, L.cholesky(S)), np.linalg.solve(S.numpy(), B.numpy()))
    close(torch.cholesky_inverse(L.cholesky(S, upper=True), upper=True), np.linalg.inv(S.numpy()))
    with pytest.raises(L.LinAlgError, match="leading minor of order 1"):
        L.cholesky(-S)


def test_complex_matrices():
    Z = torch.complex(A, A.flip(-1)) + 2 * torch.eye(4)
    close(L.inv(Z), np.linalg.inv(Z.numpy()))
    close(L.det(Z), np.linalg.det(Z.numpy()))
    Q, R = L.qr(Z)
    close(Q @ R, Z.numpy())
    close(Q.mH @ Q, np.broadcast_to(np.eye(4), (2, 4, 4)))
    H = Z @ Z.mH
    close(L.cholesky(H), np.linalg.cholesky(H.numpy()))
    for function in (L.inv, L.det, L.qr, lambda z: L.slogdet(z), lambda z: L.cholesky(z @ z.mH)):
        assert torch.autograd.gradcheck(function, Z[0].clone().requires_grad_())


def test_a_singular_matrix_has_a_gradient_of_its_determinant():
    matrix = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    L.det(matrix).backward()
    close(matrix.grad, [[4, -2], [-2, 1]])


def test_errors_name_the_element_of_the_batch():
    with pytest.raises(L.LinAlgError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 2 is zero"):
        L.inv(torch.stack([torch.eye(2), torch.diag(torch.tensor([1.0, 0.0]))]))
    assert L.inv_ex(torch.zeros(2, 2)).info.item() == 1 and L.cholesky_ex(-torch.eye(2)).info.item() == 1


@pytest.mark.parametrize("function", [L.inv, L.det, lambda x: L.slogdet(x)[1], lambda x: L.cholesky(x @ x.transpose(-2, -1) + 1),
                                      lambda x: L.qr(x), lambda x: L.solve(x, B[0])])
def test_gradients(function):
    assert torch.autograd.gradcheck(function, A[0].clone().requires_grad_())


SINGULAR = {"zero of one": torch.zeros(1, 1), "zero": torch.zeros(3, 3), "of rank 1": torch.tensor([[1.0, 2.0], [2.0, 4.0]]),
            "of rank 2": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]]),
            "nilpotent": torch.tensor([[0.0, 1.0, 5.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]),
            "several": torch.tensor([[[1.0, 0.0], [0.0, 0.0]], [[2.0, 1.0], [0.5, 3.0]]])}


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("name", SINGULAR)
def test_derivatives_of_determinants_of_singular_matrices(name, dtype):
    x = SINGULAR[name].to(dtype).requires_grad_()
    assert torch.autograd.gradcheck(torch.linalg.det, (x,)) and torch.autograd.gradgradcheck(torch.linalg.det, (x,))
    for function in (torch.logdet, lambda t: torch.linalg.slogdet(t)[1]):  # no second ones, as in PyTorch
        value = function(x)
        with pytest.raises(torch.linalg.LinAlgError, match="The solver failed because the input matrix is singular"):
            (value.real if value.is_complex() else value).sum().backward(create_graph=True)


def test_gradient_of_a_determinant_is_exact():
    for rows, gradient in (([[0.0]], [[1.0]]), ([[0.0] * 3] * 3, [[0.0] * 3] * 3), ([[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]])):
        x = torch.tensor(rows, requires_grad=True)
        torch.linalg.det(x).backward()
        assert x.grad.tolist() == gradient
    x = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda t: torch.autograd.grad(torch.linalg.det(t), t, create_graph=True)[0], (x,))


@pytest.mark.parametrize("rank", range(5))
def test_the_second_gradient_of_det_at_any_rank(rank):
    """Beside the derivatives of cofactors by minors; PyTorch's is nan for a matrix of zeros."""
    n, g = 4, torch.Generator().manual_seed(rank)
    rows, columns, w = (torch.randn(*sizes, dtype=torch.float64, generator=g) for sizes in ((n, rank), (rank, n), (n, n)))
    x = (rows @ columns).requires_grad_()

    def cofactors(m):
        out = torch.zeros_like(m)
        for i in range(n):
            for j in range(n):
                minor = m[[k for k in range(n) if k != i]][:, [k for k in range(n) if k != j]]
                a, b, c = minor
                out[i, j] = (-1) ** (i + j) * torch.linalg.cross(a, b).dot(c)
        return out
    first, = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)
    second, = torch.autograd.grad((first * w).sum(), x)
    y = x.detach().requires_grad_()
    expected, = torch.autograd.grad((cofactors(y) * w).sum(), y)
    assert torch.allclose(first, cofactors(x.detach()), rtol=1e-10, atol=1e-12)
    assert torch.allclose(second, expected, rtol=1e-10, atol=1e-10)


def test_several_tensors_in_out_come_back_under_their_names():
    A = torch.eye(2)
    out = torch.empty(0), torch.empty(0, dtype=torch.int32)
    found = torch.linalg.inv_ex(A, out=out)
    assert found.inverse is out[0] and found.info is out[1] and isinstance(found, torch.return_types.linalg_inv_ex)
    assert torch.max(A, 0, out=[torch.empty(0), torch.empty(0, dtype=torch.int64)]).values.tolist() == [1, 1]


def test_einsum_of_nothing_and_factors_of_addr():
    assert torch.einsum("ijk,k->ij", torch.ones(3, 0, 6), torch.ones(6)).shape == (3, 0)
    assert torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 0)).shape == (2, 0)
    whole, real = torch.ones(2, dtype=torch.int64), torch.ones(2)
    for vector, factors, message in ((whole, {"beta": 2.0}, "argument beta must not be a floating point number"),
                                     (whole, {"alpha": True}, "Boolean alpha only supported for Boolean results"),
                                     (real, {"beta": True}, "Boolean beta only supported for Boolean results"),
                                     (real, {"alpha": 1j}, "argument alpha must not be a complex number")):
        with pytest.raises(RuntimeError, match=message):
            torch.addr(torch.zeros(2, 2, dtype=vector.dtype), vector, vector, **factors)
    batch = torch.ones(3, 2, 2)
    with pytest.warns(UserWarning, match="addbmm_"):
        assert torch.zeros(2, 2).addbmm_(1, batch, batch).tolist() == [[6, 6], [6, 6]]


def test_lstsq_takes_a_senseless_rcond_as_the_precision():
    A, b = torch.tensor([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], dtype=torch.float64), torch.tensor([[2.0], [2.0], [0.0]], dtype=torch.float64)
    for driver in ("gelsd", "gelss", "gelsy"):
        found = torch.linalg.lstsq(A, b, rcond=-1, driver=driver)  # of rank 1
        assert found.rank.item() == 1
        torch.testing.assert_close(found.solution, torch.ones(2, 1, dtype=torch.float64))
    assert torch.linalg.lstsq(TALL, TALL[:, :1], rcond=1.0, driver="gelsd").rank.item() == 3


@pytest.mark.parametrize("call, message", [
    (lambda: L.norm(torch.ones(2, 2), 1 + 2j), "Expected a non-complex scalar"),
    (lambda: L.vector_norm(torch.ones(2), 1 + 2j), "Expected a non-complex scalar"),
    (lambda: L.norm(torch.ones(2), "fro"), "A must have at least 2 dimensions"),
    (lambda: L.pinv(torch.ones(2)), "expected a tensor with 2 or more dimensions"),
    (lambda: L.eig(torch.full((2, 2), float("nan"))), "torch.linalg.eig: input tensor should not contain infs or NaNs"),
    (lambda: torch.einsum("", []), r"einsum\(\): must specify the equation string and at least one operand"),
    (lambda: torch.mm(torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int64)), "expected self and mat2 to have the same dtype, but got:"),
    (lambda: torch.ormqr(torch.ones(3, 2), torch.ones(3), torch.ones(2, 3)), "greater than or equal to tau.shape")])
def test_errors_say_what_was_expected(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_gradients_of_slogdet_where_there_is_no_inverse():
    """Infinities and NaNs, and of the other matrices of a batch what they have alone, as PyTorch's; differentiated again an error."""
    regular = torch.tensor([[1., 2.], [3., 4.]], dtype=torch.float64)
    singular = [torch.tensor([[1., 2.], [2., 4.]], dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)]
    for dtype in (torch.float64, torch.complex128):
        batch = torch.stack([singular[0], regular, singular[1]]).to(dtype).requires_grad_()
        alone = regular.to(dtype).requires_grad_()
        for function in (torch.slogdet, L.slogdet, lambda x: (None, torch.logdet(x).real)):
            gradient, = torch.autograd.grad(function(batch)[1].sum(), batch)
            expected, = torch.autograd.grad(function(alone)[1], alone)
            assert torch.equal(gradient[1], expected) and not gradient[[0, 2]].isfinite().all(-1).all(-1).any()
            with pytest.raises(torch.linalg.LinAlgError, match="singular"):
                torch.autograd.grad(function(batch)[1].sum(), batch, create_graph=True)
    one = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.grad(torch.logdet(one), one)[0].item() == float("inf")
    sign = torch.slogdet(alone.detach().real.requires_grad_())[0]
    x = regular.clone().requires_grad_()
    assert torch.autograd.grad(torch.slogdet(x)[0], x, allow_unused=True) == (None,) and sign.item() == -1


@pytest.mark.parametrize("batch", [(), (2,)])
def test_lobpcg(batch):
    torch.manual_seed(0)
    root, scale = torch.randn(*batch, 9, 9, dtype=torch.float64), torch.randn(*batch, 9, 9, dtype=torch.float64)
    A, B = root @ root.mT, scale @ scale.mT + 9 * torch.eye(9, dtype=torch.float64)
    every = torch.linalg.eigvalsh(A)
    values, vectors = torch.lobpcg(A, k=2)
    assert torch.allclose(values, every[..., -2:].flip(-1)) and torch.allclose(A @ vectors, vectors * values[..., None, :])
    values, vectors = torch.lobpcg(A, B=B, k=3, largest=False)
    assert torch.allclose(A @ vectors, B @ vectors * values[..., None, :]) and (values[..., 0] <= values[..., 1]).all()
    assert torch.allclose(vectors.mT @ B @ vectors, torch.eye(3, dtype=torch.float64).expand(*batch, 3, 3), atol=1e-10)
    A.requires_grad_()
    torch.lobpcg(A, k=1)[0].sum().backward()
    assert torch.allclose(A.grad, A.grad.mT)


def test_lobpcg_refuses():
    with pytest.raises(ValueError, match="smaller than 3 x the number of requested eigenpairs"):
        torch.lobpcg(torch.eye(5), k=2)
    with pytest.raises(ValueError, match="expected square matrices, got A of shape"):
        torch.lobpcg(torch.ones(3, 4))
    with pytest.warns(UserWarning, match="tracker"):
        torch.lobpcg(torch.eye(5), k=1, tracker=print)
