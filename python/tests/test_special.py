"""Special functions against mpmath 1.3 with 30 digits, as recorded/special.json holds it, and their values where those end."""
import json
import math
import pathlib

import argand as torch
import pytest
from argand.distributions import Beta

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded" / "special.json").read_text())
INF, NAN = math.inf, math.nan
OSCILLATING = {name for name in RECORDED if "bessel" in name and "modified" not in name or name == "airy_ai"}


def arguments(case, dtype):
    x = torch.tensor(case["x"], dtype=dtype)
    if "z" not in case:
        return (x,)
    whole = all(isinstance(z, int) for z in case["z"])
    return x, torch.tensor(case["z"], dtype=torch.int64 if whole else dtype)


@pytest.mark.parametrize("name", RECORDED)
def test_values(name):
    case = RECORDED[name]
    got = getattr(torch.special, name)(*arguments(case, torch.float64)).tolist()
    for x, y, expected in zip(case["x"], got, case["y"]):
        # Near zeros of oscillating functions the error is that of their size around.
        rel = 2e-12 if name.startswith(("airy", "gammainc", "log_ndtr")) else 4e-14  # far out it is that of the exponent
        assert y == pytest.approx(expected, rel=rel, abs=1e-14 if name in OSCILLATING else 0), (name, x)
    single = getattr(torch.special, name)(*arguments(case, torch.float32)).tolist()
    for x, y, expected in zip(case["x"], single, case["y"]):
        # The arguments are rounded first: where the result grows as e^(x^2), that is multiplied.
        if 1e-37 < abs(expected) < 1e37 and (x == 0 or abs(x) > 1e-37):
            assert y == pytest.approx(expected, rel=3e-4, abs=1e-5), (name, x)


@pytest.mark.parametrize("name, x, expected", [
    ("bessel_y0", [0.0, -1.0, INF], [-INF, NAN, 0.0]), ("bessel_j0", [INF, NAN], [0.0, NAN]),
    ("modified_bessel_k0", [0.0, -1.0, INF], [INF, NAN, 0.0]), ("scaled_modified_bessel_k1", [0.0, -1.0], [INF, NAN]),
    ("spherical_bessel_j0", [0.0, INF, -INF], [1.0, 0.0, 0.0]), ("ndtri", [0.0, 1.0, -0.1, 1.1, NAN], [-INF, INF, NAN, NAN, NAN]),
    ("log_ndtr", [-INF, INF, NAN], [-INF, -0.0, NAN]), ("erfcx", [-INF, INF, NAN], [INF, 0.0, NAN]), ("i0e", [INF, NAN], [0.0, NAN]),
    ("airy_ai", [INF, -INF, NAN, 200.0, 1e100, 1e308], [NAN, NAN, NAN, 0.0, 0.0, 0.0]),
    ("modified_bessel_k0", [1e100, 1e308], [0.0, 0.0]), ("modified_bessel_k1", [1e100, 1e308], [0.0, 0.0])])
def test_where_functions_end(name, x, expected):
    got = getattr(torch.special, name)(torch.tensor(x, dtype=torch.float64)).tolist()
    assert [str(v) for v in got] == [str(v) for v in expected]


@pytest.mark.parametrize("name", ["scaled_modified_bessel_k0", "scaled_modified_bessel_k1"])
def test_scaled_functions_far_out(name):  # sqrt(pi / 2x), to rounding
    x = [1e17, 1e30, 1e100, 1e308]
    got = getattr(torch.special, name)(torch.tensor(x, dtype=torch.float64)).tolist()
    assert got == pytest.approx([math.sqrt(math.pi / 2 / v) for v in x], rel=1e-15)


@pytest.mark.parametrize("a, x, below", [(0.0, 1.0, 1.0), (0.0, 0.0, NAN), (1.0, INF, 1.0), (INF, 1.0, 0.0), (-1.0, 1.0, NAN),
                                         (1.0, -1.0, NAN), (2.0, 0.0, 0.0)])
def test_where_the_incomplete_gamma_function_ends(a, x, below):
    a, x = torch.tensor(a, dtype=torch.float64), torch.tensor(x, dtype=torch.float64)
    assert str(torch.igamma(a, x).item()) == str(below) and str(torch.igammac(a, x).item()) == str(1 - below)


def test_large_shapes_of_the_incomplete_gamma_function():
    a = torch.tensor([1e6, 1e9, 1e12], dtype=torch.float64)
    # scipy 1.17: half of the mass lies below the median, a little above a - 1/3.
    assert torch.igamma(a, a).tolist() == pytest.approx([0.5001329807, 0.5000042052, 0.5000001330], abs=1e-9)


def test_zeta_where_it_is_not_defined():
    s, q = torch.tensor([1.0, 0.5, 3.0, 1.5, 2.0]), torch.tensor([2.0, 2.0, -2.0, -1.5, 0.0])
    assert [str(v) for v in torch.special.zeta(s, q).tolist()] == ["inf", "nan", "inf", "nan", "inf"]


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "i1e", "modified_bessel_k1", "log_ndtr", "erfcx", "scaled_modified_bessel_k0"])
def test_gradients(name):
    x = torch.tensor([0.3, 1.7, 5.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(getattr(torch.special, name), (x,))


def test_gradients_of_polynomials_and_distributions():
    x = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([[0], [1], [4]])
    assert torch.autograd.gradcheck(lambda x: torch.special.legendre_polynomial_p(x, n), (x,))
    a = torch.tensor([0.5, 3.0], dtype=torch.float64)
    z = torch.tensor([0.4, 2.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: torch.igamma(a, z) * 2 + torch.igammac(a, z), (z,))
    for function in (torch.igamma, torch.igammac, torch.special.zeta):
        a.requires_grad_()
        result = function(a + 1, z)  # no error before the backward pass
        with pytest.raises(NotImplementedError, match="the derivative with respect to argument 'self' is not implemented"):
            result.sum().backward()
        # Where that derivative is not asked for, nothing computes it.
        (got,), (expected,) = torch.autograd.grad(function(a, z).sum(), z), torch.autograd.grad(function(a.detach(), z).sum(), z)
        assert got.equal(expected)


def test_integers():
    a, b = torch.tensor([12, -18, 0, 0, 7]), torch.tensor([18, 12, 5, 0, 7])
    assert torch.gcd(a, b).tolist() == [6, 6, 5, 0, 7] and torch.lcm(a, b).tolist() == [36, 36, 0, 0, 7]
    small = torch.tensor([-128], dtype=torch.int8)
    assert torch.gcd(small, small).tolist() == [-128]  # 128 is no int8


def test_frexp():
    mantissa, exponent = torch.frexp(torch.tensor([8.0, -0.3, 0.0, INF, NAN]))
    assert mantissa.tolist()[:4] == pytest.approx([0.5, -0.6, 0.0, INF]) and exponent.tolist() == [4, -1, 0, 0, 0]
    assert exponent.dtype == torch.int32
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        powers = torch.arange(-1074, 1024, dtype=torch.float64).exp2()
        x = torch.cat([powers, -powers * (1 - 2.0 ** -9), powers * (1 + 2.0 ** -7), torch.tensor([-0.0])]).to(dtype)
        x = x[x.isfinite()]
        mantissa, exponent = torch.frexp(x)
        assert mantissa.dtype == dtype
        assert list(zip(mantissa.tolist(), exponent.tolist())) == [math.frexp(number) for number in x.tolist()]
    assert math.copysign(1, torch.frexp(torch.tensor(-0.0))[0].item()) == -1


def test_put():
    x = torch.zeros(2, 3).t()
    assert x.put_(torch.tensor([1, -1, 1]), torch.tensor([1.0, 2.0, 4.0]), accumulate=True) is x
    assert x.tolist() == [[0.0, 5.0], [0.0, 0.0], [0.0, 2.0]]
    with pytest.raises(RuntimeError, match="same number of elements"):
        x.put(torch.tensor([1]), torch.ones(2))
    with pytest.raises(IndexError, match="out of bounds"):
        x.put(torch.tensor([6]), torch.ones(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_gamma_without_a_shape_is_nan(dtype):
    """Such draws never ended."""
    drawn = torch._standard_gamma(torch.tensor([math.nan, -1.0, -math.inf, 2.0], dtype=dtype))
    assert drawn.isnan().tolist() == [True, True, True, False]
    assert Beta(torch.tensor([math.nan]), torch.tensor([1.0]), validate_args=False).sample().isnan().all()
    assert torch._sample_dirichlet(torch.tensor([[math.nan, 1.0]])).isnan().any()
