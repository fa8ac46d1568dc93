"""Dtypes: of results of mixed operands, of out=, and of the numbers that halves are compared with."""
import math

import pytest

import argand as torch


@pytest.mark.parametrize("op", [torch.sum, torch.prod, torch.cumsum, torch.cumprod, torch.mean, torch.nansum])
def test_out_says_the_dtype_to_compute_in(op):
    x = torch.tensor([2.0**24, 1.0])
    out = torch.empty(0, dtype=torch.float64)
    op(x, 0, out=out)
    assert torch.equal(out, op(x.double(), 0))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        op(x, 0, out=out, dtype=torch.float32)


def test_a_mean_of_integers_is_refused_whatever_out_is():
    with pytest.raises(RuntimeError, match="Input dtype must be either a floating point or complex dtype"):
        torch.mean(torch.ones(3, dtype=torch.int32), 0, out=torch.empty(()))


@pytest.mark.parametrize("call, text", [
    (lambda x: torch.all(x, 0, out=torch.empty(0, dtype=torch.int32)), "all only supports bool tensor for result, got: Int"),
    (lambda x: torch.isposinf(x, out=torch.empty(0)), "isposinf does not support non-boolean outputs"),
    (lambda x: torch.argmax(x, 0, out=torch.empty(0, dtype=torch.int32)), "dtype long int, but got int instead"),
    (lambda x: torch.amax(x, 0, out=torch.empty(0, dtype=torch.float64)), "Expected out tensor to have dtype"),
    (lambda x: torch.max(x, 0, out=(torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=torch.int64))), "Expected out tensor"),
    (lambda x: torch.sort(x, out=(torch.empty(0, dtype=torch.float64), torch.empty(0, dtype=torch.int64))), "Expected out tensor"),
    (lambda x: torch.float_power(x, 2, out=torch.empty(0)), "operation's result requires dtype"),
    (lambda x: torch.norm(x, 2, 0, out=torch.empty(0, dtype=torch.float64)), "Expected out tensor to have dtype")])
def test_out_of_a_foreign_dtype_is_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.ones(2, 3))


def test_out_of_functions_takes_the_shape_of_the_result():
    x = torch.ones(2, 3)
    for call in (lambda out: torch.norm(x, 2, 0, out=out), lambda out: torch.norm(x, "nuc", out=out), lambda out: torch.norm(x, out=out),
                 lambda out: torch.tensordot(x, x.T, 1, out=out), lambda out: torch.where(x > 0, x, x, out=out)):
        out = torch.empty(0)
        assert call(out) is out
        assert torch.equal(out, call(None)) and out.numel()


def test_a_float_and_a_complex_0_dim_tensor_keep_the_precision_of_the_float():
    assert (torch.ones(1) * torch.tensor(1j, dtype=torch.complex128)).dtype is torch.complex64
    assert (torch.ones(1, dtype=torch.float64) * torch.tensor(1j, dtype=torch.complex64)).dtype is torch.complex128
    torch.set_default_dtype(torch.float64)
    try:
        assert (torch.ones(1, dtype=torch.float32) * 1j).dtype is torch.complex64
    finally:
        torch.set_default_dtype(torch.float32)


def test_polynomials_compute_in_the_dtype_of_both_arguments():
    n = torch.tensor([4.0], dtype=torch.float64)
    for name in ("chebyshev_polynomial_t", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"):
        f = getattr(torch.special, name)
        assert torch.equal(f(torch.tensor([8.3]), n), f(torch.tensor([8.3]).double(), n))
        assert f(torch.tensor([1]), torch.tensor(3.0, dtype=torch.float64)).dtype is torch.float64
        assert f(3, torch.tensor([2.0], dtype=torch.float64)).dtype is torch.float64


def test_halves_are_compared_with_what_a_number_is_in_their_dtype():
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([0.1, 0.3], dtype=dtype)
        assert (x == 0.1).tolist() == [True, False] and (x > 0.3).tolist() == [False, False]
        assert torch.nn.functional.hardshrink(x, 0.3).tolist() == [0, 0]
        assert torch.nn.functional.softshrink(x, 0.1)[0].item() == 0


def test_a_tensor_that_requires_grad_is_no_number_of_an_attribute():
    g, x = torch.tensor(2.0, requires_grad=True), torch.ones(2)
    for call in (lambda: torch.add(x, x, alpha=g), lambda: x.addcmul(x, x, value=g), lambda: torch.full((2,), g),
                 lambda: torch.nn.functional.leaky_relu(x, g)):
        with pytest.raises(TypeError):
            call()
    assert torch.add(x, x, alpha=g.detach()).tolist() == [3, 3]
    assert x.pow(g).requires_grad


@pytest.mark.parametrize("dtype, bits, least, greatest", [(torch.float16, 10, 2.0**-24, 65504.0),
                                                          (torch.bfloat16, 7, 2.0**-133, math.ldexp(255.0, 120))])
def test_nextafter_of_halves(dtype, bits, least, greatest):
    inf, ulp = math.inf, 2.0**-bits
    cases = [(1, 2, 1 + ulp), (1, 0, 1 - ulp / 2), (2 - ulp, 3, 2), (0, 1, least), (0, -1, -least), (least, 0, 0), (greatest, inf, inf),
             (inf, 0, greatest), (-inf, inf, -greatest), (inf, inf, inf), (3, 3, 3), (-1.5, 1, -1.5 + ulp)]
    x, y, next_one = (torch.tensor(column, dtype=dtype) for column in zip(*cases))
    assert torch.nextafter(x, y).tolist() == next_one.tolist()
    assert torch.nextafter(x, torch.tensor(math.nan, dtype=dtype)).isnan().all()
    # Every positive number, up and down again.
    last = 0x7C00 if dtype is torch.float16 else 0x7F80
    numbers = torch.arange(last + 1, dtype=torch.int16).view(dtype)
    up = torch.nextafter(numbers[:-1], torch.tensor([inf], dtype=dtype))
    assert torch.equal(up, numbers[1:]) and torch.equal(torch.nextafter(up, torch.tensor([0.0], dtype=dtype)), numbers[:-1])


def test_logaddexp_of_complex_numbers():
    x, y = torch.randn(9, dtype=torch.complex128), torch.randn(9, dtype=torch.complex128)
    assert torch.allclose(torch.logaddexp(x, y), (x.exp() + y.exp()).log())
    assert torch.logaddexp(torch.tensor([complex(900, 1)]), torch.tensor([complex(900, 1)])).isfinite().all()
    assert torch.logaddexp(torch.tensor([complex(-math.inf, 2)]), torch.tensor([complex(1, -2)])).tolist() == [complex(1, -2)]
    torch.autograd.gradcheck(torch.logaddexp, (x.requires_grad_(), y.requires_grad_()))


def test_the_gradient_of_sinc_next_to_0():
    x = torch.tensor([0.0, 2.3e-308, 1e-200], dtype=torch.float64, requires_grad=True)
    torch.sinc(x).sum().backward()
    assert x.grad.abs().max() < 1e-100


def test_errors_name_the_last_dimension_that_does_not_fit():
    with pytest.raises(RuntimeError, match="at non-singleton dimension 1"):
        torch.ones(10, 10) + torch.ones(11, 11)


def test_masked_product_of_an_empty_list_is_the_elements_and_of_an_empty_tuple_the_product():
    x, mask = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[True, False], [True, True]])
    assert torch.masked.prod(x, dim=[], mask=mask).tolist() == [[1, 1], [3, 4]]
    assert torch.masked.prod(x, dim=(), mask=mask).item() == 12


def test_packed_scalars_are_contiguous():
    with pytest.raises(RuntimeError, match="Expected scalars to be contiguous"):
        torch._foreach_addcmul([torch.ones(2)] * 2, [torch.ones(2)] * 2, [torch.ones(2)] * 2, scalars=torch.ones(4)[::2])


def test_the_inverse_of_bits_of_floats_is_a_type_error():
    for dtype in (torch.float32, torch.float16, torch.complex64):
        with pytest.raises(TypeError, match="only implemented on integer and Boolean-type tensors"):
            ~torch.ones(2, dtype=dtype)
    with pytest.raises(RuntimeError, match="only supports floating-point dtypes"):
        torch.frexp(torch.ones(2, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int"):
        torch.nonzero_static(torch.ones(1), size=1, out=torch.empty(0, dtype=torch.int32))


def test_a_variance_without_degrees_of_freedom_warns():
    x = torch.rand(3, 1)
    for name in ("std", "var", "std_mean", "var_mean"):
        for call in (lambda f: f(x, 1), lambda f: f(x, 0, correction=3), lambda f: f(x[:0])):
            with pytest.warns(UserWarning, match=rf"{name}\(\): degrees of freedom is <= 0"):
                call(getattr(torch, name))
    out = torch.empty(0)
    assert torch.std(x, 0, True, False, out=out) is out and torch.equal(out, torch.std(x, 0))


X, V, I, P = torch.tensor([[3., 1., 2.], [0.5, 4., 1.], [1., 0.2, 5.]]), torch.tensor([1., 2., 3.]), torch.tensor([0, 1]), torch.eye(3) * 2
L = torch.linalg
# Calls whose out= must have the dtype of the result, whatever it could be cast to; PyTorch refuses the same.
EXACT = {
    "multinomial": lambda o: torch.multinomial(V, 2, out=o), "searchsorted": lambda o: torch.searchsorted(V, V, out=o),
    "searchsorted of int32": lambda o: torch.searchsorted(V, V, out_int32=True, out=o), "bucketize": lambda o: torch.bucketize(V, V, out=o),
    "isin": lambda o: torch.isin(X, X, out=o), "inv": lambda o: L.inv(X, out=o), "det": lambda o: L.det(X, out=o), "solve": lambda o: L.solve(X, X, out=o),
    "cholesky": lambda o: L.cholesky(P, out=o), "svdvals": lambda o: L.svdvals(X, out=o), "eigvalsh": lambda o: L.eigvalsh(P, out=o),
    "norm": lambda o: L.norm(X, out=o), "norm of a name": lambda o: L.norm(X, "fro", out=o), "matrix_norm": lambda o: L.matrix_norm(X, out=o),
    "lu_solve": lambda o: L.lu_solve(*L.lu_factor(X), X, out=o), "multi_dot": lambda o: L.multi_dot([X, X], out=o), "cross": lambda o: L.cross(X, X, out=o),
    "solve_triangular": lambda o: L.solve_triangular(X, X, upper=True, out=o), "matrix_power": lambda o: L.matrix_power(X, 3, out=o),
    "vecdot": lambda o: L.vecdot(X, X, out=o), "mm": lambda o: torch.mm(X, X, out=o), "matmul": lambda o: torch.matmul(X, X, out=o),
    "bmm": lambda o: torch.bmm(X[None], X[None], out=o), "mv": lambda o: torch.mv(X, V, out=o), "dot": lambda o: torch.dot(V, V, out=o),
    "addmm": lambda o: torch.addmm(X, X, X, out=o), "addmv": lambda o: torch.addmv(V, X, V, out=o), "inner": lambda o: torch.inner(V, V, out=o),
    "tensordot": lambda o: torch.tensordot(X, X, 1, out=o), "histc": lambda o: torch.histc(X, 4, out=o), "renorm": lambda o: torch.renorm(X, 2, 0, 1., out=o),
    "clamp": lambda o: torch.clamp(X, 0, 1, out=o), "where": lambda o: torch.where(X > 1, X, X, out=o), "round": lambda o: torch.round(X, out=o),
    "floor": lambda o: torch.floor(X, out=o), "neg": lambda o: torch.neg(X, out=o), "sign": lambda o: torch.sign(X, out=o), "frac": lambda o: torch.frac(X, out=o),
    "nan_to_num": lambda o: torch.nan_to_num(X, out=o), "index_select": lambda o: torch.index_select(X, 0, I, out=o),
    "gather": lambda o: torch.gather(X, 0, I[None], out=o), "take": lambda o: torch.take(X, I, out=o), "masked_select": lambda o: torch.masked_select(X, X > 1, out=o),
    "tril": lambda o: torch.tril(X, out=o), "diag": lambda o: torch.diag(X, out=o), "scatter": lambda o: torch.scatter(X, 0, I[None], 1., out=o),
    "scatter_add": lambda o: torch.scatter_add(X, 0, I[None], X, out=o), "index_add": lambda o: torch.index_add(X, 0, I, X[:2], out=o),
    "expand_copy": lambda o: torch.expand_copy(X, (2, 3, 3), out=o), "narrow_copy": lambda o: torch.narrow_copy(X, 0, 0, 1, out=o),
    "bitwise_not": lambda o: torch.bitwise_not(I, out=o), "complex": lambda o: torch.complex(X, X, out=o), "polar": lambda o: torch.polar(X, X, out=o),
    "hardshrink": lambda o: torch.hardshrink(X, out=o), "argsort": lambda o: torch.argsort(X, out=o), "slice_scatter": lambda o: torch.slice_scatter(X, X, out=o),
    "take_along_dim": lambda o: torch.take_along_dim(X, I[None], 1, out=o), "logsigmoid": lambda o: torch.nn.functional.logsigmoid(X, out=o),
    "nuclear_norm": lambda o: torch.nuclear_norm(X, out=o), "histogram": lambda o: torch.histogram(X, 4, out=(o, torch.empty(0))),
    "polar of a matrix": lambda o: L.polar(X, out=(o, torch.empty(0))), "unbind_copy": lambda o: torch.unbind_copy(X[None], out=[o]),
    "frexp": lambda o: torch.frexp(X, out=(torch.empty(0), o)), "slogdet": lambda o: L.slogdet(X, out=(torch.empty(0), o)),
    "lu_factor": lambda o: L.lu_factor(X, out=(torch.empty(0), o)), "inv_ex": lambda o: L.inv_ex(X, out=(torch.empty(0), o))}
RESULTS = {"multinomial": torch.int64, "searchsorted": torch.int64, "bucketize": torch.int64, "searchsorted of int32": torch.int32,
           "isin": torch.bool, "bitwise_not": torch.int64, "complex": torch.complex64, "polar": torch.complex64, "argsort": torch.int64, "frexp": torch.int32, "lu_factor": torch.int32, "inv_ex": torch.int32}


@pytest.mark.parametrize("name", EXACT)
def test_out_of_another_dtype_is_refused(name):
    result = RESULTS.get(name, torch.float32)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.complex64, torch.int64, torch.int32, torch.bool):
        out = torch.empty(0, dtype=dtype)
        if dtype is result:
            EXACT[name](out)
            assert out.numel() > 0
            continue
        with pytest.raises(RuntimeError):
            EXACT[name](out)
        assert out.shape == (0,)


def test_out_of_a_wider_dtype_is_taken_elsewhere():
    for call in (torch.exp, torch.sqrt, lambda x, out: torch.add(x, x, out=out), lambda x, out: torch.cat([x, x], out=out), lambda x, out: L.pinv(x, out=out)):
        for dtype in (torch.float64, torch.complex64):
            out = torch.empty(0, dtype=dtype)
            call(X, out=out)
            assert out.dtype is dtype and out.numel() > 0


# Calls of two results or more, with a text of the refusal.
SEVERAL = {
    "max": lambda o: torch.max(X, 1, out=o), "sort": lambda o: torch.sort(X, out=o), "topk": lambda o: torch.topk(X, 2, out=o),
    "aminmax": lambda o: torch.aminmax(X, out=o), "frexp": lambda o: torch.frexp(X, out=o), "mode": lambda o: torch.mode(X, 1, out=o),
    "qr": lambda o: L.qr(X, out=o), "svd": lambda o: L.svd(X, out=o), "slogdet": lambda o: L.slogdet(X, out=o), "lu": lambda o: torch.lu(X, out=o),
    "eig": lambda o: L.eig(X, out=o), "lstsq": lambda o: L.lstsq(X, X, driver="gelsy", out=o), "histogram": lambda o: torch.histogram(X, 4, out=o),
    "unbind_copy": lambda o: torch.unbind_copy(X, out=o), "split_copy": lambda o: torch.split_copy(X, 2, out=o),
    "split_with_sizes_copy": lambda o: torch.split_with_sizes_copy(X, [1, 2], out=o)}


@pytest.mark.parametrize("name, flaw", [(name, flaw) for name in SEVERAL for flaw in ("dtype", "device", "overlap", "inference", "size")
                                        if flaw not in ("overlap", "size") or name not in ("aminmax", "slogdet", "lstsq")])  # one element
def test_no_out_is_written_unless_all_can_be(name, flaw):
    plain = {"lu": lambda: torch.lu(X), "lstsq": lambda: L.lstsq(X, X, driver="gelsy")}.get(name, lambda: SEVERAL[name](None))
    results = plain()
    outs = [torch.full(r.shape, 7, dtype=r.dtype) for r in results]
    last = max(i for i, r in enumerate(results) if r.numel() > 1 or flaw not in ("overlap", "size"))
    result = results[last]
    if flaw == "inference":
        with torch.inference_mode():
            outs[last] = torch.full(result.shape, 7, dtype=result.dtype)
    else:
        outs[last] = {"dtype": lambda: torch.full(result.shape, True), "device": lambda: torch.empty(result.shape, dtype=result.dtype, device="meta"),
                      "overlap": lambda: torch.full((1,) * max(result.dim(), 1), 7, dtype=result.dtype).expand(result.shape),
                      # memory of an array, which cannot grow
                      "size": lambda: torch.from_numpy(torch.full((1,), 7, dtype=result.dtype).numpy().copy())}[flaw]()
    with pytest.raises(RuntimeError):
        SEVERAL[name](tuple(outs))
    assert all((o == 7).all() for o in outs[:last])
    assert flaw == "device" or (outs[last] == (flaw == "dtype" or 7)).all()


@pytest.mark.parametrize("name", ["unbind_copy", "split_copy", "split_with_sizes_copy", "lu"])
def test_outs_of_a_list_are_tensors_as_many_as_results(name):
    outs = [torch.empty(0, dtype=r.dtype) for r in SEVERAL[name](None)]
    with pytest.raises(RuntimeError, match=f"expected {len(outs)} tensors in out, got {len(outs) - 1}"):
        SEVERAL[name](outs[:-1])
    for wrong in (outs[0], [*outs[:-1], None], "out"):
        with pytest.raises(TypeError, match="argument 'out' must be tuple of Tensors"):
            SEVERAL[name](wrong)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        SEVERAL[name]([outs[0].detach().requires_grad_(), *outs[1:]])
    assert all(o.numel() == 0 for o in outs)
    SEVERAL[name](outs)
    assert all(torch.equal(o, r) for o, r in zip(outs, SEVERAL[name](None)))
    other = [torch.zeros(9, dtype=o.dtype) for o in outs]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        SEVERAL[name](other)


def test_out_of_nonzero_and_int_mm():
    with pytest.raises(TypeError, match="argument 'out' must be Tensor, not list"):
        torch.nonzero(X, out=[torch.empty(0, dtype=torch.int64)])
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.nonzero(X, out=torch.zeros(2, dtype=torch.int64))
    a = torch.ones(2, 2, dtype=torch.int8)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype int"):
        torch._int_mm(a, a, out=torch.empty(0, dtype=torch.int8))
    assert torch._int_mm(a, a, out=torch.empty(0, dtype=torch.int32)).tolist() == [[2, 2], [2, 2]]
