"""Hooks of modules: where they stand, what they see, and what they may give back."""
import pickle
import warnings

import pytest

import argand as torch
from argand import nn


def kept(*_, **__):
    pass


def test_handles_know_where_the_hook_stands():
    m = nn.Sigmoid()
    first, second = m.register_forward_hook(kept, with_kwargs=True, always_call=True), m.register_forward_pre_hook(kept, with_kwargs=True)
    assert first.hooks_dict_ref() is m._forward_hooks and m._forward_hooks[first.id] is kept
    assert first.id in m._forward_hooks_with_kwargs and first.id in m._forward_hooks_always_called
    assert second.id in m._forward_pre_hooks_with_kwargs
    other = pickle.loads(pickle.dumps((m._forward_hooks, first)))[1]
    assert other.id == first.id and m.register_forward_hook(kept).id > first.id
    for handle in (first, first, second):
        handle.remove()
    assert not m._forward_hooks_with_kwargs and not m._forward_hooks_always_called and not m._forward_pre_hooks_with_kwargs
    with torch.ones(1, requires_grad=True).register_hook(kept) as handle:
        assert handle.hooks_dict_ref() is None


def test_hooks_of_the_last_node():
    seen = []

    class Outer(nn.Module):
        def forward(self, x):
            return {"output": (x * 2).exp().sum()}
    m = Outer()
    m.register_backward_hook(lambda module, grad_input, grad_output: seen.append((module, grad_output)))
    with pytest.warns(FutureWarning, match="does not return a single Tensor or a tuple of Tensors"):
        m(torch.ones(2, requires_grad=True))["output"].backward()
    assert seen == [(m, (torch.tensor(1.0),))]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single Module"):
        m.register_full_backward_hook(kept)
    m = nn.Sequential(nn.Tanh(), nn.Tanh())
    m.register_backward_hook(kept)
    with pytest.warns(FutureWarning, match="contains multiple autograd Nodes"):
        m(torch.ones(2, requires_grad=True))


def test_results_of_hooks_are_counted():
    m = nn.Sigmoid()
    x = torch.ones(2, requires_grad=True)
    with m.register_backward_hook(lambda module, grad_input, grad_output: ()), pytest.raises(RuntimeError, match="got 0, but expected 1"):
        m(x).sum().backward()
    node = (x * 2).grad_fn
    node.register_hook(lambda found, given: (None,) * 5)
    with pytest.raises(RuntimeError, match="register_hook: hook has returned an incorrect number of values .got 5, but expected 2."):
        torch.autograd.backward([torch.autograd.graph.GradientEdge(node, 0)], [torch.ones(2)])


def test_full_hooks_without_gradients_of_inputs():
    m = nn.Linear(2, 2)
    m.register_full_backward_hook(lambda module, grad_input, grad_output: (None,))
    with pytest.warns(UserWarning, match="Full backward hook is firing when gradients are computed with respect to module outputs"):
        m(torch.ones(1, 2)).sum().backward()

    class Same(nn.Module):
        def forward(self, *tensors):
            return tensors
    m, seen = Same(), []
    m.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
    a, b = m(torch.ones(1), torch.ones(1, requires_grad=True))
    assert not a.requires_grad and b.requires_grad
    b.sum().backward()
    assert len(seen[0]) == 2 and seen[0][0] is None and seen[0][1].item() == 1
    with pytest.raises(RuntimeError, match="Output 1 of BackwardHookFunctionBackward is a view and is being modified inplace"):
        m(torch.ones(1), torch.ones(1, requires_grad=True))[1].add_(1)


def test_hooks_of_all_modules():
    from argand.nn.modules import module
    calls = []
    handle = module.register_module_forward_hook(lambda m, args, kwargs, out: calls.append(kwargs), with_kwargs=True, always_call=True)

    class Fails(nn.Module):
        def forward(self, x, *, fail=True):
            if fail:
                raise ValueError("fails")
            return x
    try:
        Fails()(1, fail=False)
        with pytest.raises(ValueError, match="fails"):
            Fails()(1, fail=True)
        assert calls == [{"fail": False}, {"fail": True}] and len(module._global_forward_hooks_always_called) == 1
    finally:
        handle.remove()
    assert not module._global_forward_hooks_always_called and not module._global_forward_hooks_with_kwargs


def test_state_dict_hooks():
    m = nn.Linear(1, 1)
    m.register_state_dict_post_hook(kept)
    assert kept._from_public_api
    with pytest.raises(RuntimeError, match="previously registered via register_state_dict_post_hook"):
        m._register_state_dict_hook(kept)
    m.register_load_state_dict_pre_hook(kept)
    copy = pickle.loads(pickle.dumps(m))
    assert copy.load_state_dict(m.state_dict()) is not None
    del kept._from_public_api


def test_warning_of_outputs_that_are_no_tensors():
    class Dict(nn.Module):
        def forward(self, x):
            return {"x": x}
    m = Dict()
    m.register_full_backward_hook(kept)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        m(torch.ones(1, requires_grad=True))
    assert "module output should be a Tensor or a tuple of Tensors" in str(seen[0].message)
