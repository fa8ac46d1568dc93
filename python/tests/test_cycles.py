"""What refers to itself through C++ (hooks, contexts of Functions, gradients) is freed by gc.collect().

Note [Cycles through C++] in python/bindings/graph.h.
"""
import gc
import resource
import weakref

import argand as torch
import pytest


class Watched:
    """Something that a cycle holds."""


def hook_of_leaf(watched):
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda grad: (x, watched) and None)
    (x * 2).sum().backward()


def hook_of_result(watched):
    y = torch.ones(3, requires_grad=True) * 2
    y.register_hook(lambda grad: (y, watched) and None)
    y.sum().backward()


def hook_after_accumulation(watched):
    x = torch.ones(3, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: (x, watched) and None)
    (x * 2).sum().backward()


def hook_of_gradient(watched):
    x = torch.ones(3, requires_grad=True)
    x.grad = torch.ones(3, requires_grad=True)
    x.grad.register_hook(lambda grad: (x, watched) and None)


def optimizer_in_hook(watched):
    x = torch.nn.Parameter(torch.ones(3))
    optimizers = {x: torch.optim.Adam([x])}

    def step(leaf):
        optimizers[leaf].step()
        optimizers[leaf].zero_grad(watched is not None)
    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    assert x.grad is None


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, watched):
        out = x * 2
        ctx.save_for_backward(x, out)
        ctx.out, ctx.watched = out, watched
        return out

    @staticmethod
    def backward(ctx, grad):
        assert len(ctx.saved_tensors) == 2 and ctx.out is not None
        return grad * 2, None


def attribute_of_context(watched):
    y = Twice.apply(torch.ones(3, requires_grad=True), watched)
    y.sum().backward()


def node_in_context(watched):
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            contexts.append(ctx)
            return x * 2
    contexts = []
    node = Keeps.apply(torch.ones(3, requires_grad=True)).grad_fn
    contexts[0].node, contexts[0].watched = node, watched
    contexts.clear()


def hooks_of_module(watched):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
    net.register_forward_hook(lambda *_: (net, watched) and None)
    net.register_full_backward_hook(lambda *_: (net, watched) and None)
    net[0].register_forward_pre_hook(lambda *_: (net, watched) and None)
    net[0].weight.register_hook(lambda grad: (net, watched) and None)
    net(torch.ones(2, 3)).sum().backward()


def parameter_with_itself(watched):
    class Named(torch.nn.Parameter):
        pass
    p = Named(torch.ones(3))
    p.self, p.watched = p, watched
    (p * 2).sum().backward()


CYCLES = [hook_of_leaf, hook_of_result, hook_after_accumulation, hook_of_gradient, optimizer_in_hook, attribute_of_context,
          node_in_context, hooks_of_module, parameter_with_itself]


@pytest.mark.parametrize("make", CYCLES)
def test_cycle_is_freed(make):
    watched = Watched()
    make(watched)
    gone = weakref.ref(watched)
    del watched
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("make", CYCLES)
def test_memory_stays(make):
    """As many cycles of a kilobyte and more, 10^5 of the commonest."""
    def some(count):
        for i in range(count):
            make(bytearray(1000))
            if i % 1000 == 0:
                gc.collect()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = 100_000 if make in (hook_of_leaf, attribute_of_context) else 4000
    before = some(1000)
    assert some(count) - before < count / 4, "kB more"


def before_leaf(calls):
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda grad: calls.append(x.shape))
    return x * 2


def after_leaf(calls):
    x = torch.ones(3, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: calls.append(x.shape))
    return x * 2


def before_node(calls):
    y = torch.ones(3, requires_grad=True) * 2
    y.register_hook(lambda grad: calls.append(y.shape))
    return y * 2


def of_function(calls):
    class Calls(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.out = x * 2
            return ctx.out

        @staticmethod
        def backward(ctx, grad):
            calls.append(ctx.out.shape)
            return grad * 2
    return Calls.apply(torch.ones(3, requires_grad=True)) * 2


@pytest.mark.parametrize("make", [before_leaf, after_leaf, before_node, of_function])
def test_what_the_graph_still_uses_stays(make):
    calls = []
    z = make(calls).sum()
    gc.collect()
    z.backward()
    assert calls == [torch.Size([3])]


def test_collection_within_backward():
    x = torch.ones(3, requires_grad=True)
    calls = []

    def hook(grad):
        calls.append(x)
        gc.collect()
        return grad * 3
    x.register_hook(hook)
    Twice.apply(x, None).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0, 6.0] and len(calls) == 1


def test_collection_keeps_what_is_held():
    """A cycle that somebody holds at any of its places goes on working."""
    def leaf():
        x = torch.ones(3, requires_grad=True)
        x.register_hook(lambda grad: grad * x.detach().sum())
        return x
    x = leaf()
    gc.collect()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0, 6.0]
    node = Twice.apply(torch.ones(3, requires_grad=True), None).grad_fn
    gc.collect()
    assert node.name() == "TwiceBackward" and len(node.next_functions) == 1
