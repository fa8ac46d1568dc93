"""Modules that take their sizes from their first input."""
import copy
import pickle

import argand as torch
import pytest
from argand import nn


def network():
    return nn.Sequential(nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm2d(), nn.ReLU(), nn.LazyConvTranspose2d(6, 2, stride=2, groups=2),
                         nn.LazyInstanceNorm2d(), nn.Flatten(), nn.LazyLinear(5), nn.LazyBatchNorm1d(affine=False))


def test_sizes_come_with_the_first_input():
    torch.manual_seed(0)
    m = network()
    optimizer = torch.optim.SGD(m.parameters(), lr=0.1)
    assert repr(m[6]) == "LazyLinear(in_features=0, out_features=5, bias=True)" and repr(m[6].weight) == "<UninitializedParameter>"
    assert m[0].has_uninitialized_params() and nn.parameter.is_lazy(m[1].running_mean)
    m.double().float()
    x = torch.randn(3, 2, 4, 4)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (m(x) - 1).pow(2).mean() + m[3].weight.sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == pytest.approx([1.69889, -3.10301, -7.90231], abs=1e-4)  # what PyTorch 2.15 prints
    assert type(m[0]) is nn.Conv2d and type(m[4]) is nn.InstanceNorm2d and type(m[0].weight) is nn.Parameter
    assert repr(m[3]) == "ConvTranspose2d(4, 6, kernel_size=(2, 2), stride=(2, 2), groups=2)"
    assert [tuple(p.shape) for p in m.parameters()] == [(4, 2, 3, 3), (4,), (4,), (4,), (4, 3, 2, 2), (6,), (6,), (6,), (5, 384), (5,)]
    assert not any(p._forward_pre_hooks for p in m)


def test_sizes_come_with_a_state_dict():
    torch.manual_seed(0)
    made, lazy = network(), network()
    x = torch.randn(3, 2, 4, 4)
    made(x)
    assert str(lazy.load_state_dict(made.state_dict())) == "<All keys matched successfully>"
    made.eval()
    lazy.eval()
    assert torch.equal(made(x), lazy(x)) and repr(lazy) == repr(made)


def test_copies_and_pickles_are_lazy_too():
    first = nn.LazyLinear(3, bias=False)
    for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert repr(other.weight) == "<UninitializedParameter>"
        assert other(torch.ones(2, 7)).shape == (2, 3) and type(other) is nn.Linear
    assert first.has_uninitialized_params()


def test_what_lazy_modules_refuse():
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        nn.LazyLinear(3).weight.shape
    with pytest.raises(RuntimeError, match="Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
        nn.LazyConv2d(4, 3)(torch.ones(2, 2))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv1d(4, 3, groups=2)(torch.ones(1, 3, 8))


@pytest.mark.parametrize("lazy, usual, shape", [
    (nn.LazyConv1d(4, 3), nn.Conv1d, (2, 3, 8)), (nn.LazyConv3d(4, 1), nn.Conv3d, (2, 3, 2, 2, 2)),
    (nn.LazyConvTranspose1d(4, 3), nn.ConvTranspose1d, (2, 3, 8)), (nn.LazyConvTranspose3d(4, 1), nn.ConvTranspose3d, (2, 3, 2, 2, 2)),
    (nn.LazyBatchNorm3d(), nn.BatchNorm3d, (2, 3, 2, 2, 2)), (nn.LazyInstanceNorm1d(), nn.InstanceNorm1d, (2, 3, 8)),
    (nn.LazyInstanceNorm3d(), nn.InstanceNorm3d, (2, 3, 2, 2, 2)), (nn.LazyConv2d(4, 3), nn.Conv2d, (3, 8, 8))])
def test_all_kinds(lazy, usual, shape):
    assert lazy(torch.randn(shape)).dim() == len(shape) and type(lazy) is usual
