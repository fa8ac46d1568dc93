"""Copies of parameters: their values, and nothing else of them."""
import copy

import argand as torch


def test_copies_of_parameters_are_new():
    module = torch.nn.Linear(2, 1)
    module(torch.ones(2)).sum().backward()
    module.weight.note = "trained"
    module.same = module.weight
    copied = copy.deepcopy(module)
    assert copied.weight.grad is None and copied.bias.grad is None and not vars(copied.weight)
    assert copied.weight.requires_grad and copied.same is copied.weight and torch.equal(copied.weight, module.weight)
    assert copied.weight.data_ptr() != module.weight.data_ptr() and module.weight.grad is not None
    halves = [torch.nn.Parameter(half) for half in torch.ones(4).chunk(2)]
    assert [p.untyped_storage().nbytes() for p in copy.deepcopy(halves)] == [8, 8]
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    assert copy.deepcopy(leaf).grad.tolist() == [1, 1]


def test_copies_of_parameters_of_a_class():
    class Scaled(torch.nn.Parameter):
        def __init__(self, *_):
            self.scale = 1
    scaled = Scaled(torch.ones(1))
    scaled.scale = 5
    copied = copy.deepcopy(scaled)
    assert type(copied) is Scaled and copied.scale == 1
