"""What errors and warnings of out= say, and those of dtypes and shapes that linear algebra and transforms do not take."""
import warnings

import pytest

import argand as torch

A = torch.eye(3) * 2
L = torch.linalg


def empty(dtype, device="cpu"):
    return torch.empty(0, dtype=dtype, device=device)


@pytest.mark.parametrize("call", [
    L.cholesky, L.inv, L.det, L.eigvalsh, L.svdvals, torch.tril, lambda x, out: torch.mm(x, x, out=out),
    lambda x, out: L.matrix_power(x, 2, out=out)])
def test_a_kernel_says_which_dtypes_it_expected(call):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got int instead: the operation's result requires "
                                           "dtype Float"):
        call(A, out=empty(torch.int32))
    with pytest.raises(RuntimeError, match="Expected out tensor to have device cpu, but got meta instead: Expected all tensors to be on the "
                                           "same device"):
        call(A, out=empty(torch.float32, "meta"))


@pytest.mark.parametrize("name, call", [
    ("eigenvalues", L.eigvals), ("result", L.pinv), ("result", L.cond),
    ("result", lambda x, out: L.tensorinv(x.reshape(3, 3), ind=1, out=out)), ("result", lambda x, out: L.tensorsolve(x, x[0], out=out)),
    ("result", lambda x, out: L.householder_product(x, x[0], out=out)), ("result", torch.cholesky_inverse),
    ("eigenvectors", lambda x, out: L.eig(x, out=(empty(torch.complex64), out))), ("tau", lambda x, out: torch.geqrf(x, out=(empty(x.dtype), out))),
    ("solution", lambda x, out: L.lstsq(x, x, out=(out, empty(x.dtype), empty(torch.int64), empty(x.dtype))))])
def test_functions_call_their_results_by_name(name, call):
    of = "ComplexFloat" if name.startswith("eigen") else "Float"
    with pytest.raises(RuntimeError, match=f"Expected {name} to be safely castable from {of} dtype, but got {name} with dtype Int"):
        call(A, out=empty(torch.int32))
    with pytest.raises(RuntimeError, match=f"Expected {name} and input tensors to be on the same device, but got {name} on meta and input on cpu"):
        call(A, out=empty(torch.complex64, "meta"))


def test_the_rank_is_a_number():
    with pytest.raises(RuntimeError, match="but got result with dtype Bool"):
        L.matrix_rank(A, out=empty(torch.bool))


def test_exact_results_say_of_what_dtype_they_are():
    with pytest.raises(RuntimeError, match="expected scalar type 'Float' but got 'Double' for values output"):
        torch.mode(A, out=(empty(torch.float64), empty(torch.int64)))
    with pytest.raises(RuntimeError, match="expected scalar type 'Long' but got 'Int' for indices output"):
        torch.mode(A, out=(empty(torch.float32), empty(torch.int32)))
    for function in (torch.quantile, torch.nanquantile):
        with pytest.raises(RuntimeError, match=r"quantile\(\) out tensor must be same dtype as the input tensor"):
            function(A, 0.5, out=empty(torch.float64))


@pytest.mark.parametrize("call", [lambda out: torch.arange(5, out=out), lambda out: torch.fft.fftfreq(5, out=out),
                                  lambda out: torch.fft.rfftfreq(8, out=out)])
def test_a_resize_of_a_sequence_tells_its_length(call):
    with pytest.warns(UserWarning, match=r"shape \[2\] is 2 which does not match the computed number of elements 5.*"
                                         r"out tensor will be resized to a tensor of shape \(5,\)"):
        assert call(torch.empty(2)).shape == (5,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(torch.empty(0)), call(torch.empty(5))


@pytest.mark.parametrize("call, text", [
    (lambda: torch.fft.fft(torch.ones(4, dtype=torch.float16)), "Unsupported dtype Half"),
    (lambda: torch.fft.irfft2(torch.ones(4, 4, dtype=torch.bfloat16)), "Unsupported dtype BFloat16"),
    (lambda: torch.fft.rfft(torch.ones(4) + 0j), "rfft expects a real input tensor, but got ComplexFloat"),
    (lambda: torch.fft.rfft2(torch.ones(4, 4) + 0j), "rfftn expects a real-valued input tensor, but got ComplexFloat"),
    (lambda: torch.fft.ihfftn(torch.ones(4, 4) + 0j), "Only supports floating-point dtypes, but found: ComplexFloat"),
    (lambda: L.slogdet(A.half()), "Low precision dtypes not supported. Got Half"),
    (lambda: L.matrix_exp(A.int()), "Expected a floating point or complex tensor as input. Got Int"),
    (lambda: L.inv(A.bool()), "Expected a floating point or complex tensor as input. Got Bool"),
    (lambda: L.vector_norm(torch.empty(0), float("inf")), "linalg.vector_norm cannot compute the inf norm on an empty tensor"),
    (lambda: L.pinv(A, rcond=torch.tensor(1j)), "rcond tensor of complex type is not supported"),
    (lambda: L.pinv(A, rtol=torch.tensor(1j)), "rtol tensor of complex type is not supported"),
    (lambda: L.cond(A, "f"), "linalg.cond got an invalid norm type: f"),
    (lambda: L.norm(A, 3.5), "matrix_norm: Order 3.5 not supported"),
    (lambda: L.eig(torch.full((2, 3, 3), float("nan"))), "torch.linalg.eig: input tensor should not contain infs or NaNs"),
    (lambda: L.lstsq(A, torch.tensor(1.0)), "other must have at least 1 dimension"),
    (lambda: L.lstsq(A, torch.ones(2)), r"input.size\(-2\) should match other.size\(-1\)"),
    (lambda: L.lstsq(A, torch.ones(2, 1)), r"input.size\(-2\) should match other.size\(-2\)"),
    (lambda: torch.lu_unpack(A, torch.tensor([1, 2, 9], dtype=torch.int32)), r"between 1 and LU.size\(-2\) inclusive"),
    (lambda: torch.lu_unpack(A, torch.tensor([1, 2, 3])), "of torch.int32 dtype, got int64"),
    (lambda: torch.ormqr(A[None], A[:2], A[None]), r"batch dimensions of tau to be equal to input.shape\[:-2\]"),
    (lambda: torch.ormqr(A[None], A[:1], torch.ones(2, 3, 3)), r"batch dimensions of other to be equal to input.shape\[:-2\]"),
    (lambda: L.multi_dot([A, A, A.double()]), "all tensors must have be the same dtype but tensor 0 is float32 and tensor 2 float64"),
    (lambda: L.tensorsolve(torch.ones(2, 3, 6), torch.ones(2, 2)), "Expected self to satisfy the requirement .* but got 6 != 4"),
    (lambda: torch.quantile(A, -1.0), r"quantile\(\) q must be in the range \[0, 1\] but got -1"),
    (lambda: torch.quantile(A, torch.tensor([2.0])), r"quantile\(\) q values must be in the range \[0, 1\]")])
def test_refused_arguments(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_functions_that_were_removed_name_their_successor(name):
    places = [torch] if name == "matrix_rank" else [torch, torch.Tensor]
    for place in places:
        with pytest.raises(RuntimeError, match="This function was deprecated since version 1.9 and is now removed. Use torch.linalg."):
            getattr(place, name)(A, A)


def test_the_names_of_numpy():
    assert torch.equal(torch.add(x1=A, x2=A), A + A)
    assert torch.equal(torch.sin(a=A), torch.sin(x=A))


def test_the_inverse_of_a_factor_with_a_0_on_its_diagonal():
    factor = torch.tril(torch.ones(3, 3))
    factor[1, 1] = 0
    with pytest.raises(L.LinAlgError, match="cholesky_inverse: The diagonal element 2 is zero"):
        torch.cholesky_inverse(factor)
    with pytest.raises(L.LinAlgError, match=r"cholesky_inverse: \(Batch element 1\): The diagonal element 2 is zero"):
        torch.cholesky_inverse(torch.stack([torch.eye(3), factor]).mT, upper=True)
    assert torch.cholesky_inverse(torch.empty(2, 0, 0)).shape == (2, 0, 0)


def test_zeros_and_ones_are_written_as_any_dtype():
    out = torch.empty(0, dtype=torch.int8)
    assert torch.bernoulli(torch.ones(3), out=out) is out and out.tolist() == [1, 1, 1]


def test_errors_have_words_of_pytorchs():
    conv = torch.nn.functional.conv2d
    for function, error, words in (
            (lambda: torch.tensor(), TypeError, 'tensor\\(\\) missing 1 required positional arguments: "data"'),
            (lambda: conv(torch.zeros(1, 1, 1, 6, dtype=torch.long), torch.zeros(1, 1, 1, 3)), RuntimeError, "(?=.*Long)(?=.*Float)"),
            (lambda: torch.cummax(torch.ones(3), 0, out=(torch.empty(0, dtype=torch.int16), torch.empty(0, dtype=torch.long))), RuntimeError,
             "expected scalar_type Float but found Short"),
            (lambda: torch.ones(3, 0).index_select(1, torch.tensor([0])), IndexError, "self indexing axis dim should be positive"),
            (lambda: torch.ones(3).index_select(0, torch.tensor([5])), IndexError, "INDICES element is out of DATA bounds"),
            (lambda: torch.ones(3).apply_(lambda v: "a"), TypeError, "expected the function to return a number, got str"),
            (lambda: torch.nn.functional.adaptive_max_pool2d(torch.ones(1, 4, 4, dtype=torch.int32), 2), RuntimeError, "not implemented"),
            (lambda: torch.nn.functional.fractional_max_pool2d(torch.ones(1, 4, 4), (1,), 2), RuntimeError, "kernel_size must either be")):
        with pytest.raises(error, match=words):
            function()
    x = torch.arange(4)
    for index, source in ((x[:2], torch.ones(2, dtype=torch.long)), (torch.tensor([0, 1]), x[:2])):
        with pytest.raises(RuntimeError, match="unsupported operation"):
            x.put_(index, source)


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean"])
def test_reductions_of_few_elements_are_rounded_at_each_step(dtype, reduce):
    torch.manual_seed(0)
    start, source, index = torch.randn(7, 9).to(dtype), torch.randn(30, 9).to(dtype), torch.randint(7, (30, 9))
    expected, counts = start.clone(), torch.ones(7, 9)
    for i in range(30):
        for j in range(9):
            at = index[i, j], j
            expected[at] = expected[at] * source[i, j] if reduce == "prod" else expected[at] + source[i, j]
            counts[at] += 1
    if reduce == "mean":
        expected /= counts
    assert torch.equal(start.scatter_reduce(0, index, source, reduce), expected)
