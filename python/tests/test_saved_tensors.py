"""torch.autograd.graph: what ops keep for their gradients, packed and unpacked; what was packed is what PyTorch 2.15 packs."""
import argand as torch
import pytest
from argand.autograd import graph


def packed_by(function):
    """The values that hooks were given to pack, and the gradient of the sum of what function(leaf) returns."""
    leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    seen = []

    def pack(t):
        seen.append(t.tolist())
        return len(seen) - 1, t.clone()

    with graph.saved_tensors_hooks(pack, lambda packed: packed[1]):
        result = function(leaf).sum()
    result.backward()
    return sorted(map(str, seen)), leaf.grad.tolist()


@pytest.mark.parametrize("function, kept", [
    (lambda x: x * x, ["[1.0, 2.0, 3.0]", "[1.0, 2.0, 3.0]"]),
    (lambda x: x.exp(), ["[2.7182817459106445, 7.389056205749512, 20.08553695678711]"]),
    (lambda x: (x + 1).pow(2), ["[2.0, 3.0, 4.0]"]),
    (lambda x: x + 1, []),
    (lambda x: x * torch.tensor([4.0, 5.0, 6.0]), ["[4.0, 5.0, 6.0]"])], ids=["mul", "exp", "pow", "add", "by constant"])
def test_hooks_see_what_is_kept_and_gradients_stay(function, kept):
    seen, grad = packed_by(function)
    leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    function(leaf).sum().backward()
    assert seen == sorted(kept) and grad == leaf.grad.tolist()


def test_what_is_unpacked_is_what_gradients_read():
    x = torch.tensor([3.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.backward()
    assert x.grad.item() == 60.0


def test_second_gradients_go_through_what_was_unpacked():
    x = torch.tensor([2.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.numpy().copy(), torch.from_numpy):
        y = (x.exp() * x).sum()
        first, = torch.autograd.grad(y, x, create_graph=True)
        second, = torch.autograd.grad(first.sum(), x)
    e = torch.tensor(2.0).exp().item()
    assert first.item() == pytest.approx(3 * e) and second.item() == pytest.approx(4 * e)


def test_inner_hooks_replace_outer_ones():
    order = []
    outer = graph.saved_tensors_hooks(lambda t: order.append("outer") or t, lambda t: t)
    x = torch.ones(1, requires_grad=True)
    with outer:
        with graph.saved_tensors_hooks(lambda t: order.append("inner") or t, lambda t: t):
            x.exp()
        x.exp()
    x.exp()
    assert order == ["inner", "outer"]


def test_functions_written_in_python_are_packed_too():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return 3 * x * x * grad

    x = torch.tensor([2.0], requires_grad=True)
    count = []
    with graph.saved_tensors_hooks(lambda t: count.append(1) or t + 1, lambda t: t - 1):
        y = Cube.apply(x)
    grad, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(grad, x)
    assert len(count) == 1 and grad.item() == 12.0 and second.item() == 12.0


def test_a_graph_is_walked_twice_and_freed():
    x = torch.ones(2, requires_grad=True)
    times = []
    with graph.saved_tensors_hooks(lambda t: t, lambda t: times.append(1) or t):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(times) == 2
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_errors_of_hooks():
    x = torch.ones(1, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.exp()
    with pytest.raises(TypeError, match="Output of saved tensor unpack_hook expected to be a Tensor but got result of type int"):
        y.backward()
    with graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
            x.exp()
    with graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t), pytest.raises(ZeroDivisionError):
        x.exp()
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()


def test_save_on_cpu_trains_the_same():
    def grads(scope):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        with scope:
            loss = model(torch.randn(5, 4)).square().mean()
        loss.backward()
        return [p.grad.tolist() for p in model.parameters()]
    import contextlib
    assert grads(graph.save_on_cpu()) == grads(contextlib.nullcontext())


def test_mutation_of_kept_tensors():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        out = (y ** 2).sum()
        y.mul_(10)
        out.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_what_is_kept_is_copied_when_it_is_written():
    x = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    b = torch.ones(2)
    with graph.allow_mutation_on_saved_tensors() as known:
        first, second = x ** 2, x * b
        assert len(known.cloned) == 0
        x[:1].mul_(3)  # through a view
        torch.sin(torch.zeros(2), out=b)
        assert len(known.cloned) == 2  # of x once, and of b
        del first
        assert len(known.cloned) == 1
        second.sum().backward(retain_graph=True)
        with pytest.raises(RuntimeError, match="contexts cannot be nested"):
            graph.allow_mutation_on_saved_tensors().__enter__()
    with pytest.raises(AssertionError, match="Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"):
        second.sum().backward()


@pytest.mark.parametrize("mode, calls", [("all", [[[2.0], [3.0], None]]), ("any", [[3.0]])])
def test_a_hook_of_several_tensors(mode, calls):
    a, b, c = (torch.tensor([v], requires_grad=True) for v in (3.0, 2.0, 5.0))
    seen = []

    def see(grads):
        seen.append([g if g is None else g.tolist() for g in grads] if mode == "all" else grads.tolist())
    handle = graph.register_multi_grad_hook((a, b, c), see, mode=mode)
    (a * b).backward()
    if mode == "any":
        assert len(seen) == 1 and seen[0] in ([2.0], [3.0])
    else:
        assert seen == calls
    (a * b).backward()
    assert len(seen) == 2
    handle.remove()
    (a * b).backward()
    assert len(seen) == 2


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_of_several_tensors_after_a_pass_that_failed(mode):
    a, b = (torch.tensor([v], requires_grad=True) for v in (3.0, 2.0))
    seen, is_to_fail = [], True

    def fail(grad):
        if is_to_fail:
            raise ValueError("on purpose")
    graph.register_multi_grad_hook((a, b), seen.append, mode=mode)
    doubled = b * 2
    doubled.register_hook(fail)
    with pytest.raises(ValueError, match="on purpose"):
        (a * 5 + doubled).backward()
    seen.clear()
    is_to_fail = False
    (a * 5 + doubled).backward()
    assert len(seen) == 1
    if mode == "all":
        assert [g.item() for g in seen[0]] == [5, 2]


def test_edges():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert graph.get_gradient_edge(y).node == y.grad_fn and graph.get_gradient_edge(y).output_nr == 0
    assert graph.get_gradient_edge(x).node.name().endswith("AccumulateGrad")
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(1))


def test_version_is_moved_by_hand():
    x = torch.ones(2, requires_grad=True)
    h = x * 1
    y = h.exp() * h
    graph.increment_version(h)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def depth():
    """How many hooks this thread has."""
    found = 0
    try:
        while True:
            torch._C._pop_saved_tensors_hooks()
            found += 1
    except RuntimeError:
        return found


@pytest.mark.parametrize("fails", [False, True])
def test_hooks_that_backward_leaves_behind_end_with_the_node(fails):
    def unpack(t):
        graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
        if fails:
            raise ZeroDivisionError
        return t
    x = leaf = torch.tensor([3.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, unpack):
        for _ in range(3):
            x = x * x
    if fails:
        with pytest.raises(ZeroDivisionError):
            x.backward()
    else:
        x.backward()
        assert leaf.grad.item() == 8 * 3.0**7
    assert depth() == 0


def test_hooks_that_backward_takes_away_are_there_after_it():
    outer = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    x = torch.tensor([3.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: outer.__exit__() or t):
        y = x.sin()
    with outer:
        y.backward()
        assert torch.equal(x.grad, x.cos())
    assert depth() == 0


def test_a_message_that_backward_leaves_behind_goes_with_it():
    x = torch.tensor([3.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: (torch._C._disable_saved_tensors_hooks("none here"), t)[1]):
        y = x * x
    y.backward()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_hooks_are_those_of_the_caller_in_the_thread_that_a_deep_backward_goes_on_in():
    class Within(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.save_for_backward(x)
            ctx.depth = depth
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                x = ctx.saved_tensors[0].detach().requires_grad_()
                if ctx.depth:
                    Within.apply(x, ctx.depth - 1).backward()
                else:
                    x.exp()  # keeps its result
            return grad * 2, None
    seen = []
    y = Within.apply(torch.tensor([1.0], requires_grad=True), 80)
    with graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t):
        y.backward()
    assert len(seen) == 81
