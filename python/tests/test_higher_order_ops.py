"""associative_scan against running sums and a loop."""
import argand as torch
import pytest
from argand._torch._higher_order_ops import associative_scan


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13])
def test_running_sums_and_recurrences(n, dim):
    torch.manual_seed(0)
    sizes = [3, 3, 3]
    sizes[dim] = n
    x = torch.randn(sizes, dtype=torch.float64, requires_grad=True)
    for reverse in (False, True):
        got = associative_scan(lambda a, b: a + b, x, dim, reverse=reverse, combine_mode="generic")
        expected = x.flip([dim]).cumsum(dim).flip([dim]) if reverse else x.cumsum(dim)
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(*(torch.autograd.grad(y.square().sum(), x) for y in (got, expected)))
    a, b = torch.rand(sizes, dtype=torch.float64), torch.randn(sizes, dtype=torch.float64)
    factors, states = associative_scan(lambda left, right: (left[0] * right[0], right[0] * left[1] + right[1]), (a, b), dim)
    state, expected = torch.zeros_like(b.select(dim, 0)), []
    for i in range(n):
        state = a.select(dim, i) * state + b.select(dim, i)
        expected.append(state)
    torch.testing.assert_close(states, torch.stack(expected, dim))
    torch.testing.assert_close(factors, a.cumprod(dim))


def test_trees_and_errors():
    assert associative_scan(lambda a, b: {"x": torch.maximum(a["x"], b["x"])}, {"x": torch.tensor([1, 3, 2, 5, 4])}, 0)["x"].tolist() == \
        [1, 3, 3, 5, 5]
    two = (torch.ones(4), torch.ones(4))
    for arguments, message in [((3, two, 0), "combine_fn must be callable, got 3"), ((max, [], 0), "xs must be a tensor or a tree of at least"),
                               ((max, (torch.ones(4), torch.ones(3)), 0), r"expected tensors as long along dim 0, got \[\[4\], \[3\]\]"),
                               ((max, two, 0, False, "x"), "combine_mode must be either")]:
        with pytest.raises(ValueError, match=message):
            associative_scan(*arguments)
    for x, dim in ((torch.ones(4), 1), (torch.tensor(1.0), 0)):
        with pytest.raises(IndexError, match=f"associative_scan: dim {dim} is out of range"):
            associative_scan(max, x, dim)
    with pytest.raises(RuntimeError, match="combine_fn must give what it takes"):
        associative_scan(lambda a, b: a[0], two, 0)
