"""Parametrizations: what they may return, and what becomes of the tensors they start from."""
import copy
import pickle

import pytest

import argand as torch
from argand import nn
from argand.nn.utils import parametrizations, parametrize


class Double(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Gives(nn.Module):
    """forward and right_inverse by two functions."""

    def __init__(self, forward, inverse=None):
        super().__init__()
        self.forward = forward
        if inverse is not None:
            self.right_inverse = inverse


def same(x):
    return x


@pytest.mark.parametrize("forward, inverse, message", [
    (same, lambda x: None, "must return a Tensor or a Sequence of tensors"),
    (lambda x, y: x, lambda x: (None, x), "element 0 of the sequence with type NoneType"),
    (same, lambda x: x.bool(), "outputs one tensor, it may not change the dtype"),
    (lambda x: 2, None, "must return a tensor"), (lambda x: x.bool(), None, "may not change the dtype"),
    (lambda x: x[:-1], None, "may not change the shape")])
def test_what_one_may_not_return(forward, inverse, message):
    m = nn.Linear(3, 4)
    with pytest.raises(ValueError, match=message):
        parametrize.register_parametrization(m, "weight", Gives(forward, inverse))
    assert not parametrize.is_parametrized(m)


@pytest.mark.parametrize("inverse, message", [(lambda x: (x, x), "right_inverse must return a tensor"),
                                              (lambda x: x.bool(), "must have the same dtype"), (lambda x: x[:-1], "must have the same shape")])
def test_what_a_second_one_may_not_return(inverse, message):
    m = nn.Linear(3, 4)
    parametrize.register_parametrization(m, "weight", Double())
    with pytest.raises(ValueError, match=message):
        parametrize.register_parametrization(m, "weight", Gives(same, inverse))
    assert len(m.parametrizations.weight) == 1


def test_a_second_one_leaves_the_original():
    m = nn.Linear(2, 2)
    weight = m.weight.detach().clone()
    parametrize.register_parametrization(m, "weight", Double())
    assert torch.equal(m.weight, weight)
    original = m.parametrizations.weight.original.clone()
    parametrize.register_parametrization(m, "weight", Double())
    assert torch.equal(m.parametrizations.weight.original, original) and torch.equal(m.weight, 2 * weight)
    m.weight = weight
    assert torch.equal(m.weight, weight) and torch.equal(m.parametrizations.weight.original, weight / 4)


def test_states_and_copies():
    m = parametrizations.weight_norm(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(m)
    other = copy.deepcopy(m)
    assert torch.equal(other.weight, m.weight) and other.parametrizations.weight.original0 is not m.parametrizations.weight.original0


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_spectral_norm_of_a_diagonal(dtype):
    m = nn.Linear(2, 2, dtype=dtype)
    with torch.no_grad():
        m.weight.copy_(torch.diag(torch.tensor([0.3, -0.9] if dtype == torch.float32 else [0.3 + 0.1j, 0.2 - 0.9j])))
        before = torch.diagonal(m.weight).clone()
        parametrizations.spectral_norm(m)
        assert torch.allclose(torch.diagonal(m.weight), before / before.abs().max(), atol=1e-5)
