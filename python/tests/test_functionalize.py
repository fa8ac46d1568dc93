"""torch.func.functionalize: the same results, without ops that write."""
import argand as torch
import pytest
from argand.func import functionalize, grad, vmap
from argand.fx.experimental.proxy_tensor import make_fx


def writes_views(x):
    y = x * 2
    y.t()[0].add_(1)
    y.view(-1)[1:3].mul_(3)
    a, b = y.split(1)
    a.copy_(b)
    y[:, 1] = 7
    y.diagonal().zero_()
    y.unsqueeze(0).squeeze(0).unfold(1, 2, 2).sub_(1)
    z = y[0]
    y.add_(1)
    return y, z


@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_results_and_writes_are_those_of_the_function(remove):
    x = torch.randn(2, 4)
    for got, right in zip(functionalize(writes_views, remove=remove)(x.clone()), writes_views(x.clone())):
        torch.testing.assert_close(got, right)

    def writes_argument(t):
        t.view(-1)[::2].fill_(5)
        return t.sum()
    given, right = x.clone(), x.clone()
    assert torch.equal(functionalize(writes_argument, remove=remove)(given), writes_argument(right)) and torch.equal(given, right)
    out = functionalize(lambda t: torch.add(t, 1, out=torch.empty(0)), remove=remove)(x)
    assert type(out) is torch.Tensor and torch.equal(out, x + 1)


def test_a_trace_has_no_op_that_writes():
    for remove, view in (("mutations", "aten.view.default"), ("mutations_and_views", "aten.view_copy.default")):
        graph = make_fx(functionalize(lambda x: x.view(4, 2).add_(1), remove=remove))(torch.zeros(2, 4)).graph
        names = [str(node.target) for node in graph.nodes if node.op == "call_function"]
        assert names[0] == view and names[-1] == "aten.copy_.default"
        assert not [n for n in names[:-1] if n.split(".")[1].endswith("_")]


def test_with_other_transforms():
    def f(x):
        y = x * 1
        y[0].mul_(3)
        return y.sin().sum()
    x = torch.randn(3, 4)
    torch.testing.assert_close(grad(functionalize(f))(x), grad(f)(x))
    torch.testing.assert_close(functionalize(grad(f))(x), grad(f)(x))
    torch.testing.assert_close(vmap(functionalize(f))(x), torch.stack([f(row) for row in x]))
    torch.testing.assert_close(functionalize(vmap(f))(x), torch.stack([f(row) for row in x]))
    torch.testing.assert_close(functionalize(functionalize(f))(x), f(x))


def test_what_it_refuses():
    with pytest.raises(RuntimeError, match="remove='mutations'"):
        functionalize(lambda x: x, remove="views")
