"""Checkpoints that choose by op what they keep."""
import functools
import gc
import weakref

import argand as torch
import pytest
from argand.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from argand.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

MM = torch.ops.aten.mm.default


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


def run(function, *inputs, policy=None, **options):
    for x in inputs:
        x.grad = None
    contexts = {} if policy is None else {"context_fn": functools.partial(create_selective_checkpoint_contexts, policy, **options)}
    out = checkpoint(function, *inputs, use_reentrant=False, **contexts)
    with Count() as count:
        out.sum().backward()
    return [x.grad.clone() for x in inputs], count.seen


@pytest.mark.parametrize("policy", [
    [MM], lambda context, op, *args, **kwargs: CheckpointPolicy.MUST_SAVE if op is MM else CheckpointPolicy.PREFER_RECOMPUTE,
    lambda context, op, *args, **kwargs: op is MM], ids=["list", "function", "bool"])
def test_products_are_kept(policy):
    torch.manual_seed(0)
    x, y = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)

    def f(x, y):
        return torch.mm(x.cos(), y).sin().exp()
    plain, all_again = run(f, x, y)
    kept, some_again = run(f, x, y, policy=policy)
    assert all(torch.equal(a, b) for a, b in zip(plain, kept))
    assert all_again.count(MM) == 3 and some_again.count(MM) == 2  # those of the gradient


def test_what_was_written_is_an_error():
    def f(x):
        return x.sin().mul_(2).cos().exp()
    policy = [torch.ops.aten.sin.default]
    with pytest.raises(RuntimeError, match="has been mutated"):
        run(f, torch.randn(3, requires_grad=True), policy=policy)
    run(f, torch.randn(3, requires_grad=True), policy=policy, allow_cache_entry_mutation=True)


def test_once_alone_and_nothing_stays():
    known = None

    def f(x):
        nonlocal known
        out = x.cos().exp()
        storage = _get_current_dispatch_mode().storage[torch.ops.aten.exp.default]
        if storage:
            assert not storage[0].val.requires_grad
            known = weakref.ref(storage[0].val)
        return out.sin()
    x = torch.randn(3, requires_grad=True)
    contexts = functools.partial(create_selective_checkpoint_contexts, lambda *_, **__: CheckpointPolicy.MUST_SAVE)
    out = checkpoint(f, x, use_reentrant=False, context_fn=contexts)
    assert known() is not None
    out.sum().backward(retain_graph=True)
    gc.collect()
    assert known() is None
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        out.sum().backward()


def test_bad_policies():
    with pytest.raises(ValueError, match="to be an OpOverload"):
        create_selective_checkpoint_contexts([2])
    with pytest.raises(ValueError, match="update the OpOverloadPacket to a specific OpOverload"):
        create_selective_checkpoint_contexts([torch.ops.aten.sin])
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(2)
