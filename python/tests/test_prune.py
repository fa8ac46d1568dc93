"""Pruning: masks recorded from PyTorch 2.15 for the same seeds, chains of methods, what stays and what goes with them."""

import argand as torch
import pytest
from argand import nn
from argand.nn.utils import prune


def linear(seed=0):
    torch.manual_seed(seed)
    return nn.Linear(5, 4)


def bits(mask):
    return "".join(str(int(v)) for v in mask.flatten().tolist())


METHODS = {
    "identity": (lambda m: prune.identity(m, "weight"), "11111111111111111111"),
    "random": (lambda m: prune.random_unstructured(m, "weight", 0.3), "11011110111110001101"),
    "random 5": (lambda m: prune.random_unstructured(m, "weight", 5), "11011110111110001111"),
    "l1": (lambda m: prune.l1_unstructured(m, "weight", 0.4), "01111001000011101111"),
    "l1 by scores": (lambda m: prune.l1_unstructured(m, "weight", 0.4, importance_scores=torch.rand_like(m.weight)), "11100111010001111010"),
    "random rows": (lambda m: prune.random_structured(m, "weight", 0.5, 0), "00000111111111100000"),
    "random columns": (lambda m: prune.random_structured(m, "weight", 1, -1), "11101111011110111101"),
    "rows by l2": (lambda m: prune.ln_structured(m, "weight", 0.5, 2, 0), "11111000001111100000"),
    "columns by l1": (lambda m: prune.ln_structured(m, "weight", 1, 1, 1), "01111011110111101111"),
    "columns by maxima": (lambda m: prune.ln_structured(m, "weight", 1, float("inf"), -1), "01111011110111101111"),
    "random, then l1": (lambda m: prune.l1_unstructured(prune.random_unstructured(m, "weight", 0.3), "weight", 0.4), "01011000001010001101"),
    "rows, then l1": (lambda m: prune.l1_unstructured(prune.ln_structured(m, "weight", 1, 2, 0), "weight", 3), "01111000001011101111"),
    "rows, then columns": (lambda m: prune.ln_structured(prune.ln_structured(m, "weight", 1, 2, 0), "weight", 1, 1, 1), "01111000000111101111"),
}


@pytest.mark.parametrize("name", METHODS)
def test_masks_are_pytorchs(name):
    method, expected = METHODS[name]
    module = linear()
    before = module.weight.detach().clone()
    assert method(module) is module
    assert bits(module.weight_mask) == expected
    assert module.weight.equal(before * module.weight_mask) and module.weight_orig.equal(before)


def test_several_tensors_as_one():
    a, b = linear(1), nn.Linear(4, 2)
    prune.l1_unstructured(a, "weight", 2)
    pairs = [(a, "weight"), (b, "weight"), (a, "bias")]
    every = torch.cat([getattr(*pair).detach().abs().flatten() for pair in pairs])
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=9)
    masks = torch.cat([getattr(m, n + "_mask").flatten() for m, n in pairs])
    assert int((masks == 0).sum()) == 11  # the two zeros are not judged again
    assert masks.tolist() == [float(v > every.sort().values[10]) for v in every.tolist()]
    with pytest.raises(TypeError, match='Only "unstructured"'):
        prune.global_unstructured(pairs, prune.LnStructured, amount=1, n=2)
    with pytest.raises(TypeError, match="not an Iterable"):
        prune.global_unstructured(3, prune.L1Unstructured)


def test_training_with_a_mask():
    module = prune.l1_unstructured(linear(), "weight", 8)
    assert [n for n, _ in module.named_parameters()] == ["bias", "weight_orig"] and "weight_mask" in module.state_dict()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        module(torch.ones(3, 5)).square().sum().backward()
        optimizer.step()
    assert ((module.weight_orig.grad == 0) | (module.weight_mask == 1)).all()
    module(torch.ones(1, 5))
    assert ((module.weight == 0) == (module.weight_mask == 0)).all()
    again = linear(3)
    prune.identity(again, "weight")
    again.load_state_dict(module.state_dict())
    assert again(torch.ones(1, 5)).equal(module(torch.ones(1, 5)))


def test_removal():
    module = prune.l1_unstructured(linear(), "weight", 8)
    original, pruned = module.weight_orig, module.weight.detach().clone()
    assert prune.is_pruned(nn.Sequential(module)) and not prune.is_pruned(linear())
    prune.remove(module, "weight")
    assert module.weight is original and module.weight.equal(pruned) and not prune.is_pruned(module)
    assert list(module.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(module, "weight")


def test_programs_find_their_hooks_in_the_module():
    module = linear()
    prune.l1_unstructured(module, "weight", 3)
    prune.random_unstructured(module, "weight", 3)
    chain, = module._forward_pre_hooks.values()
    assert isinstance(chain, prune.PruningContainer) and len(chain) == 2
    assert [type(m) for m in chain] == [prune.L1Unstructured, prune.RandomUnstructured] and chain[0].amount == 3


def test_single_tensors():
    t = torch.arange(6.0).reshape(2, 3)
    assert prune.L1Unstructured(2).prune(t).tolist() == [[0, 0, 2], [3, 4, 5]]
    assert prune.L1Unstructured(1).prune(t, default_mask=torch.tensor([[1.0, 1, 0], [1, 1, 1]]),
                                         importance_scores=9 - t).tolist() == [[0, 1, 0], [3, 4, 0]]

    class Last(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[-1:] = 0
            return mask
    module = linear()
    Last.apply(module, "weight")
    Last.apply(module, "weight")  # of what is left
    assert bits(module.weight_mask) == 18 * "1" + "00"


@pytest.mark.parametrize("error, message, call", [
    (ValueError, "float in the range", lambda m: prune.l1_unstructured(m, "weight", 1.5)),
    (ValueError, "should be smaller", lambda m: prune.l1_unstructured(m, "weight", 100)),
    (ValueError, "non-negative", lambda m: prune.random_unstructured(m, "weight", -1)),
    (TypeError, "Must be int or float", lambda m: prune.l1_unstructured(m, "weight", "a")),
    (ValueError, "multidimensional", lambda m: prune.ln_structured(m, "bias", 1, 2, 0)),
    (IndexError, "Invalid index 5", lambda m: prune.ln_structured(m, "weight", 1, 2, 5)),
    (AttributeError, "nope", lambda m: prune.l1_unstructured(m, "nope", 1)),
    (AssertionError, "shape", lambda m: prune.custom_from_mask(m, "weight", torch.ones(2)))])
def test_refusals_leave_the_module(error, message, call):
    module = linear()
    with pytest.raises(error, match=message):
        call(module)
    assert list(module.state_dict()) == ["weight", "bias"] and not prune.is_pruned(module)


def test_a_container_takes_none_for_nothing():
    container = prune.PruningContainer()
    container.add_pruning_method(None)
    assert len(container) == 0
    with pytest.raises(TypeError, match="is not a BasePruningMethod subclass"):
        container.add_pruning_method(3)
