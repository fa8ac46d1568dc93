"""Python integers of 2^63 to 2^64 - 1, which int64 does not hold."""
import pytest

import argand as torch

F = torch.nn.functional
WIDE, LARGEST = 2**63, 2**64 - 1
x, n = torch.ones(2), torch.ones(2, dtype=torch.int64)
TAKEN = {
    "add": lambda v: x + v, "radd": lambda v: v + x, "mul": lambda v: x * v, "mul_": lambda v: x.clone().mul_(v), "imul": lambda v: x.clone().__imul__(v),
    "double": lambda v: x.double() * v, "div": lambda v: v / x, "pow": lambda v: x ** v, "rpow": lambda v: v ** x, "lt": lambda v: x < v, "ne": lambda v: x != v,
    "clamp": lambda v: x.clamp(max=v), "fill_": lambda v: x.clone().fill_(v), "full": lambda v: torch.full((2,), v, dtype=torch.float64),
    "complex": lambda v: torch.full((2,), v, dtype=torch.complex128), "full_like": lambda v: torch.full_like(x, v), "new_full": lambda v: x.new_full((2,), v),
    "masked_fill": lambda v: x.masked_fill(x > 0, v), "where": lambda v: torch.where(x > 0, x, v), "add with alpha": lambda v: torch.add(x, x, alpha=v),
    "addcmul": lambda v: torch.addcmul(x, x, x, value=v), "threshold": lambda v: F.threshold(x, v, 0), "each": lambda v: torch._foreach_mul([x, x], v)[0],
    "index_fill": lambda v: x.index_fill(0, n, v), "half": lambda v: torch.tensor([1.], dtype=torch.bfloat16) * v}
REFUSED = {
    "full": lambda v: torch.full((2,), v), "tensor": torch.tensor, "add": lambda v: n + v, "lt": lambda v: n < v, "fill_": lambda v: n.clone().fill_(v),
    "zeros": torch.zeros, "view": lambda v: x.view(v), "index": lambda v: x[v], "narrow": lambda v: x.narrow(0, v, 1), "sum": lambda v: x.sum(v),
    "integer dtype": lambda v: torch.full((2,), v, dtype=torch.int32), "elements": lambda v: torch.tensor([1, v])}


@pytest.mark.parametrize("value", (WIDE, WIDE + 2**20, LARGEST))
@pytest.mark.parametrize("name", TAKEN)
def test_a_number_beside_floats_is_rounded(name, value):
    got, expected = TAKEN[name](value), TAKEN[name](float(value))
    assert got.dtype is expected.dtype and got.tolist() == expected.tolist()


@pytest.mark.parametrize("value", (WIDE, LARGEST))
@pytest.mark.parametrize("name", REFUSED)
def test_elsewhere_it_is_refused(name, value):
    with pytest.raises((RuntimeError, IndexError), match="int64|too large"):
        REFUSED[name](value)


@pytest.mark.parametrize("value", (2**64, -2**63 - 1, 10**30))
def test_what_no_64_bits_hold_is_refused_beside_floats_too(value):
    for call in (lambda: x * value, lambda: value - x, lambda: x.clamp(max=value), lambda: torch.full((2,), value, dtype=torch.float64)):
        with pytest.raises(OverflowError):
            call()


def test_seeds():
    for make in (lambda seed: torch.Generator().manual_seed(seed), torch.manual_seed):
        assert [make(seed).initial_seed() for seed in (WIDE, LARGEST, -1, 7)] == [WIDE, LARGEST, LARGEST, 7]
        for seed in (2**64, -2**63 - 1):
            with pytest.raises(RuntimeError, match="Overflow when unpacking long"):
                make(seed)
    assert torch.rand(3, generator=torch.Generator().manual_seed(LARGEST)).equal(torch.rand(3, generator=torch.Generator().manual_seed(-1)))


def test_bounds_of_slices_are_cut_as_in_python():
    numbers = torch.arange(4)
    for part in (slice(None, WIDE), slice(-(10**30), 10**30), slice(10**30, None), slice(None, None, 10**30), slice(None, -(10**30))):
        assert numbers[part].tolist() == list(range(4))[part]
