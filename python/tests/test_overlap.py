"""Tensors that are written while others read the same memory: what PyTorch 2.15 takes and refuses."""
import argand as torch
import pytest


@pytest.mark.parametrize("write", [
    lambda y: y[1:].add_(y[:-1]), lambda y: y[1:].copy_(y[:-1]), lambda y: torch.add(y[1:], 1, out=y[:-1]),
    lambda y: y.index_add_(0, torch.tensor([0]), y[:1]), lambda y: y.add_(y[0]), lambda y: y.expand(2, 5).add_(1),
    lambda y: y[:1].expand(4).mul_(2)])
def test_writes_that_are_refused(write):
    y = torch.arange(5.)
    with pytest.raises(RuntimeError, match="refer.* to a single memory location"):
        write(y)
    assert y.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("write, expected", [
    (lambda y: y.fill_(y[2]), [2, 2, 2, 2, 2]),
    (lambda y: y.masked_fill_(torch.tensor([True, False, True, False, True]), y[2]), [2, 1, 2, 3, 2]),
    (lambda y: y.index_fill_(0, torch.tensor([4, 0, 2]), y[2]), [2, 1, 2, 3, 2]),
    (lambda y: y.index_fill_(0, torch.tensor([0, 1, 2, 3, 4]), y[4]), [4, 4, 4, 4, 4]),
    (lambda y: y[1:3].expand(3, 2).fill_(7), [0, 7, 7, 3, 4]), (lambda y: y[1:2].expand(3).zero_(), [0, 0, 2, 3, 4]),
    (lambda y: y.mul_(y), [0, 1, 4, 9, 16]), (lambda y: y[:2].add_(y[2:4]), [2, 4, 2, 3, 4])])
def test_writes_that_are_taken(write, expected):
    y = torch.arange(5.)
    write(y)
    assert y.tolist() == expected


def test_many_elements_are_filled_with_one_of_them():
    n = 100_000
    for at in (0, n // 2, n - 1):
        y = torch.arange(float(n))
        assert torch.equal(y.masked_fill_(y > -1, y[at]), torch.full((n,), float(at)))
        y = torch.arange(float(n))
        assert torch.equal(y.fill_(y[at]), torch.full((n,), float(at)))
