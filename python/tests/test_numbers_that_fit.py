"""Numbers that a dtype cannot hold are refused where they are written, as PyTorch refuses them."""
import math
import warnings

import numpy
import pytest

import argand as torch

INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def set_item(dtype, value):
    t = torch.zeros(2, dtype=dtype)
    t[0] = value
    return t


def zeros(dtype):
    return torch.zeros(2, dtype=dtype)


WRITERS = {
    "full": lambda dtype, v: torch.full((2,), v, dtype=dtype),
    "full_like": lambda dtype, v: torch.full_like(zeros(dtype), v),
    "new_full": lambda dtype, v: zeros(dtype).new_full((2,), v),
    "scalar_tensor": lambda dtype, v: torch.scalar_tensor(v, dtype=dtype),
    "fill_": lambda dtype, v: zeros(dtype).fill_(v),
    "fill": lambda dtype, v: torch.fill(zeros(dtype), v),
    "setitem": set_item,
    "masked_fill": lambda dtype, v: zeros(dtype).masked_fill(torch.tensor([True, False]), v),
    "masked_fill_": lambda dtype, v: zeros(dtype).masked_fill_(torch.tensor([True, False]), v),
    "index_fill": lambda dtype, v: zeros(dtype).index_fill(0, torch.tensor([0]), v),
    "scatter": lambda dtype, v: zeros(dtype).scatter(0, torch.tensor([0]), v),
    "fill_diagonal_": lambda dtype, v: torch.zeros(2, 2, dtype=dtype).fill_diagonal_(v),
    "constant_": lambda dtype, v: torch.nn.init.constant_(zeros(dtype), v)}


@pytest.mark.parametrize("name", WRITERS)
def test_what_does_not_fit_is_refused(name):
    write = WRITERS[name]
    for dtype in INTEGERS:
        for value in (math.nan, math.inf, -math.inf, 1e300):
            with pytest.raises(RuntimeError):
                write(dtype, value)
    for dtype, value in ((torch.int8, 300), (torch.int8, 128), (torch.int8, -129), (torch.uint8, 256), (torch.uint8, -300), (torch.uint8, -0.5),
                         (torch.int16, 70000), (torch.int32, 2**31), (torch.int8, 255.9), (torch.int64, 2.0**63), (torch.float32, 1e40)):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            write(dtype, value)
    for dtype in FLOATS + INTEGERS:
        with pytest.raises((RuntimeError, TypeError)):
            write(dtype, 5 + 2j)


@pytest.mark.parametrize("name", WRITERS)
def test_what_fits_is_written(name):
    def first(dtype, value):
        return WRITERS[name](dtype, value).flatten()[0].item()
    assert first(torch.int8, -128) == -128 and first(torch.uint8, 255) == 255 and first(torch.int32, 2**31 - 1) == 2**31 - 1
    assert first(torch.uint8, -1) == 255 and first(torch.int64, -2**63) == -2**63 and first(torch.int8, 1.9) == 1
    assert first(torch.float32, math.inf) == math.inf and math.isnan(first(torch.float16, math.nan))
    assert first(torch.bool, 5) is True and first(torch.complex64, 5 + 2j) == 5 + 2j and first(torch.float64, 1e300) == 1e300


@pytest.mark.parametrize("make", (lambda v, d: torch.tensor(v, dtype=d), lambda v, d: torch.tensor([v], dtype=d),
                                  lambda v, d: torch.as_tensor(v, dtype=d), lambda v, d: torch.zeros(1, dtype=d).new_tensor(v)))
def test_literals(make):
    for dtype in FLOATS + INTEGERS:
        for value in (5 + 0j, 5 + 2j):
            with pytest.raises(TypeError, match="must be real number, not complex"):
                make(value, dtype)
    for dtype in INTEGERS:
        for value in (math.nan, math.inf, 1e40):
            with pytest.raises(RuntimeError, match="value cannot be converted to type u?int.* without overflow"):
                make(value, dtype)
    for dtype, value in ((torch.int8, 300), (torch.uint8, 300), (torch.uint8, -300), (torch.int16, 70000), (torch.int32, 2**31), (torch.uint8, -1.5)):
        with pytest.raises(RuntimeError, match="without overflow"):
            make(value, dtype)
    assert make(-1, torch.uint8).item() == 255 and make(1e40, torch.float32).item() == math.inf
    assert make(5 + 0j, torch.bool).item() is True and make(5 + 2j, torch.complex64).item() == 5 + 2j
    assert make(numpy.float64(1.5), torch.int64).item() == 1


def test_factors():
    x = torch.ones(2, dtype=torch.int8)
    with pytest.raises(RuntimeError, match="add: value cannot be converted to type int8_t without overflow"):
        torch.add(x, x, alpha=300)
    with pytest.raises(RuntimeError, match="threshold"):
        torch.threshold(torch.ones(2, dtype=torch.float16), 0, 70000)
    a, b = torch.ones(2, 2, dtype=torch.int8), torch.ones(2, dtype=torch.int8)
    for call in (lambda n: torch.addmm(a, a, a, alpha=n), lambda n: torch.addmm(a, a, a, beta=n), lambda n: torch.addmv(b, a, b, alpha=n),
                 lambda n: torch.baddbmm(a[None], a[None], a[None], beta=n), lambda n: torch.addr(a, b, b, alpha=n),
                 lambda n: torch.addcmul(b, b, b, value=n), lambda n: torch.where(b > 0, b, n), lambda n: torch.where(b > 0, n, b)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int8_t without overflow"):
            call(300)
        assert call(3).dtype == torch.int8


def test_factors_of_half_precision_are_float32():
    a, b = torch.ones(2, 2, dtype=torch.float16), torch.ones(2, dtype=torch.float16)
    assert torch.addcmul(b, b, b, value=1e6).isinf().all() and torch.addmm(a, a, a * 1e-3, alpha=1e6).dtype == torch.float16
    assert torch.lerp(b, b, 1e6).equal(b)
    with pytest.raises(RuntimeError, match="addcmul: value cannot be converted to type float without overflow"):
        torch.addcmul(b, torch.tensor(1.0, dtype=torch.float64), b, value=1e39)  # no dimensions: the result is float16
    for call in (lambda: torch.addcmul(b, b, b, value=1e39), lambda: torch.addmm(a, a, a, alpha=1e39), lambda: torch.lerp(b, b, 1e39),
                 lambda: torch.lerp(b, b, 1j), lambda: torch.addcdiv(b, b, b, value=-1e39)):
        with pytest.raises(RuntimeError, match="value cannot be converted to type float without overflow"):
            call()


@pytest.mark.parametrize("make", (torch.linspace, torch.logspace))
def test_ends_that_do_not_fit_are_refused(make):
    for end, dtype, name in ((300, torch.uint8, "uint8_t"), (70000, torch.float16, "c10::Half"), (1e39, torch.float32, "float")):
        for ends in ((0, end), (end, 0)):
            with pytest.raises(RuntimeError, match=f"space: value cannot be converted to type {name} without overflow"):
                make(*ends, 3, dtype=dtype)


@pytest.mark.parametrize("dtype,value", [(torch.float32, 1e40), (torch.float16, 1e6), (torch.bfloat16, 1e39), (torch.complex64, 1e40j),
                                         (torch.float32, 1 + 2j), (torch.int32, 1 + 2j), (torch.int8, 300)])
def test_every_form_of_index_refuses_what_does_not_fit(dtype, value):
    mask, index = torch.tensor([True, False]), torch.tensor([0, 1])
    for key in (0, slice(None), Ellipsis, None, True, mask, index, [0, 1], (0, index), (mask,), torch.tensor(1)):
        t = torch.zeros(2, 2, dtype=dtype)
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            t[key] = value
        assert (t == 0).all()


def test_a_complex_number_without_imaginary_part_is_written():
    t = torch.zeros(2, 2)
    t[0], t[1, 1] = 3 + 0j, 4 + 0j
    assert t.tolist() == [[3, 3], [0, 4]]


@pytest.mark.parametrize("dtype,value", [(torch.float32, 1e40), (torch.float16, 1e6), (torch.int8, 300), (torch.int64, 1e40)])
def test_limits_that_do_not_fit_are_refused(dtype, value):
    t = torch.zeros(2, dtype=dtype)
    for call in (lambda: t.clamp(min=value), lambda: t.clip(value, value), lambda: t.clamp_min(value)):
        with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
            call()


def test_limits_outside_of_an_integer_dtype_that_no_element_reaches():
    t = torch.tensor([1, 100], dtype=torch.int8)
    assert t.clamp(max=300).tolist() == t.clamp_max(300).tolist() == t.clamp(-300, 300).tolist() == [1, 100]
    assert t.to(torch.uint8).clamp(min=-1).tolist() == t.to(torch.uint8).clamp_min(-1).tolist() == [1, 100]
    for call in (lambda: t.to(torch.uint8).clamp(max=-1), lambda: t.clamp_max(-300)):
        with pytest.raises(RuntimeError, match="without overflow"):
            call()


def test_isclose_compares_integers_without_tolerance_as_they_are():
    a, b = torch.tensor([2**53, 2**63 - 1, 5]), torch.tensor([2**53 + 1, 2**63 - 2, 5])
    assert torch.isclose(a, b, rtol=0, atol=0).tolist() == [False, False, True]
    assert not torch.allclose(a, b, rtol=0, atol=0)
    assert torch.isclose(a, b, rtol=0, atol=1).all()  # in float64, as PyTorch
    assert torch.isclose(torch.tensor([True, False]), torch.tensor([True, True]), rtol=0, atol=0).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("tolerance", [{"rtol": float("inf")}, {"atol": float("inf")}, {"rtol": float("inf"), "atol": float("inf")}])
def test_isclose_with_an_infinite_tolerance_wants_finite_differences(dtype, tolerance):
    inf, nan = float("inf"), float("nan")
    a = torch.tensor([inf, -inf, 1, inf, -inf, nan, 1, 2], dtype=dtype)
    b = torch.tensor([1, -1, inf, -inf, -inf, 1, nan, 3], dtype=dtype)
    assert torch.isclose(a, b, **tolerance).tolist() == [False, False, False, False, True, False, False, True]
    if dtype == torch.float32:
        assert not torch.isclose(torch.tensor(3e38), torch.tensor(-3e38), **tolerance)


@pytest.mark.parametrize("dtype, low, high, first, end", [
    (torch.float32, 0, 2**28, 0, 2**28 - 2**4), (torch.float32, 0, 2**30, 0, 2**30 - 2**6), (torch.float32, 0, 2**24, 0, 2**24),
    (torch.float32, 0, 2**25, 0, 2**25 - 2), (torch.float32, -2**31, 2**31 - 1, -2**31, 2**31 - 2**7),
    (torch.float32, 2**25 + 1, 2**30 - 100, 2**25 + 4, 2**30 - 100), (torch.float32, -2**25 - 7, 0, -2**25 - 4, 0),
    (torch.float64, -2**62, 2**62, -2**62, 2**62 - 2**9), (torch.float64, 0, 2**40, 0, 2**40),
    (torch.float16, 0, 32767, 0, 32768 - 2**4), (torch.bfloat16, 0, 2048, 0, 2048 - 2**3), (torch.bfloat16, 0, 255, 0, 255)])
def test_random_integers_keep_below_a_bound_that_the_dtype_rounds_to(dtype, low, high, first, end):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(7)
        drawn = torch.empty(200, dtype=dtype).random_(low, high)
        torch.manual_seed(7)
        assert torch.equal(drawn, torch.randint(first, end, (200,)).to(dtype))
        assert drawn.double().max() < high
        torch.manual_seed(7)
        assert torch.equal(drawn, torch.randint(low, high, (200,), dtype=dtype))


def test_random_integers_of_float32_are_those_of_pytorch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(7)
        assert torch.empty(3).random_(0, 2**28).tolist() == [59306176, 171107568, 128500440]
        with pytest.raises(ValueError, match="'from' casted to dtype to be less than 'to' casted to dtype"):
            torch.empty(3).random_(2**25 + 3, 2**25 + 4)


def test_index_add_casts_alpha_to_the_dtype():
    index, source = torch.tensor([0, 1]), torch.tensor([3, 1])
    for dtype in INTEGERS:
        assert torch.zeros(2, dtype=dtype).index_add_(0, index, source.to(dtype), alpha=1.5).tolist() == [3, 1]
        assert torch.zeros(2, dtype=dtype).index_add(0, index, source.to(dtype), alpha=2.9).tolist() == [6, 2]
    assert torch.zeros(2).index_add(0, index, source.float(), alpha=1.5).tolist() == [4.5, 1.5]
    for dtype, alpha in ((torch.uint8, 300), (torch.uint8, -1.5), (torch.int64, 1j), (torch.float32, 1j)):
        with pytest.raises(RuntimeError, match="without overflow"):
            torch.zeros(2, dtype=dtype).index_add_(0, index, source.to(dtype), alpha=alpha)


def test_to_dense_takes_a_dtype():
    x = torch.ones(2)
    assert x.to_dense() is x and x.to_dense(torch.float64).dtype == torch.float64
    for wrong in (torch.tensor(2), "cpu", 3, 2.5, [1], True):
        with pytest.raises(TypeError):
            x.to_dense(wrong)
    with pytest.raises(TypeError, match="masked_grad"):
        x.to_dense(masked_grad=torch.float64)


HALF, BYTE, CHAR = torch.ones(2, dtype=torch.float16), torch.ones(2, dtype=torch.uint8), torch.ones(2, dtype=torch.int8)
F = torch.nn.functional


@pytest.mark.parametrize("call", [
    lambda: CHAR.pow(300), lambda: CHAR.clone().pow_(300), lambda: BYTE ** 256, lambda: HALF.pow(70000), lambda: torch.ones(2, dtype=torch.int32) ** 2**40,
    lambda: F.hardtanh(CHAR, 300, 400), lambda: F.hardtanh(CHAR, -400, -300), lambda: F.hardtanh(BYTE, 300, 400), lambda: F.hardtanh(HALF, -1, 70000),
    lambda: F.hardtanh(CHAR, -1, float("inf")), lambda: F.hardtanh(CHAR.long(), 0, 1e39), lambda: torch.histc(HALF.float(), 4, 0, 1e39),
    lambda: torch.histc(HALF.float(), 4, -1e39, 0), lambda: torch.histc(HALF, 4, 0, 70000), lambda: F.hardshrink(HALF, 70000),
    lambda: torch.histc(BYTE, 4, -3, 5), lambda: F.softplus(HALF, 1e39), lambda: F.softplus(HALF, 1, 1e39), lambda: F.leaky_relu(HALF, 1e39),
    lambda: F.elu(HALF.float(), 1e39), lambda: F.celu(HALF, 1e39), lambda: F.threshold(HALF, 0, 70000)])
def test_exponents_limits_and_slopes_that_do_not_fit_are_refused(call):
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        call()


def test_exponents_limits_and_slopes_that_fit_what_is_computed_in():
    assert torch.equal(HALF.float().pow(1e39), HALF.float()) and torch.equal(CHAR ** 127, CHAR)
    assert torch.equal(F.hardtanh(CHAR, -300, 300), CHAR) and torch.equal(F.hardtanh(BYTE, -300, 70000), BYTE)
    assert torch.equal(F.hardtanh(HALF, float("-inf"), float("inf")), HALF) and F.hardtanh(HALF, float("nan"), 1).isnan().all()
    assert torch.equal(F.leaky_relu(HALF, 70000), HALF) and torch.equal(F.threshold(HALF, 70000, 1), HALF)
    for value in (1e39, float("inf")):
        with pytest.raises(RuntimeError, match="softshrink: lambda must be a finite number"):
            F.softshrink(HALF.float(), value)


@pytest.mark.parametrize("name", ["full", "full_like", "new_full", "fill_", "fill", "fill_diagonal_", "constant_"])
def test_fills_of_half_precision_overflow(name):
    for dtype in (torch.float16, torch.bfloat16):
        assert (WRITERS[name](dtype, -1e39).flatten()[0] == -math.inf).item()
    assert (WRITERS[name](torch.float16, 70000).flatten()[0] == math.inf).item()


def test_where_takes_the_large_number_of_a_mask_in_half_precision():
    for dtype in (torch.float16, torch.bfloat16):
        scores = torch.ones(2, dtype=dtype)
        assert torch.where(scores > 5, scores, -1e9).dtype is dtype
        assert torch.where(scores > 5, scores, -1e39).tolist() == torch.where(scores < 5, -1e39, scores).tolist() == [-float("inf")] * 2


def test_ends_below_0_wrap_around_in_uint8():
    assert torch.linspace(3, -2, 4, dtype=torch.uint8).tolist() == [3, 86, 170, 254]
    assert torch.logspace(3, -2, 3, dtype=torch.uint8).tolist()[0] == 232
    for make in (torch.linspace, torch.logspace):
        with pytest.raises(RuntimeError, match="not implemented for dtype bool"):
            make(0, 1, 3, dtype=torch.bool)
