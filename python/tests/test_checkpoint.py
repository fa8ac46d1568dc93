"""utils.checkpoint: the gradients are those without it, and the function runs twice."""
import argand as torch
import pytest
from argand.autograd import grad
from argand.nn.parameter import Parameter
from argand.utils.checkpoint import checkpoint, checkpoint_sequential

BOTH = pytest.mark.parametrize("use_reentrant", [True, False])


@BOTH
def test_gradients(use_reentrant):
    w, x = Parameter(torch.tensor([2.0, 3.0])), torch.tensor([0.5, 1.5], requires_grad=True)
    calls = []

    def function(a, factor):
        calls.append(torch.is_grad_enabled())
        return (a * w * factor).sin(), "more"
    out, text = checkpoint(function, x, 2.0, use_reentrant=use_reentrant, preserve_rng_state=False)
    assert text == "more" and len(calls) == 1
    out.sum().backward()
    assert len(calls) == 2 and calls[1]
    expected = torch.cos(x * w * 2).detach() * 2
    assert torch.allclose(x.grad, expected * w.detach()) and torch.allclose(w.grad, expected * x.detach())


def test_parameters_alone():
    w, x = Parameter(torch.ones(2)), torch.ones(2)
    out = checkpoint(lambda a: a * w, x, use_reentrant=False, preserve_rng_state=False)
    out.sum().backward()
    assert w.grad.tolist() == [1, 1]
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not checkpoint(lambda a: a * w, x, use_reentrant=True, preserve_rng_state=False).requires_grad
    assert not checkpoint(lambda a: a * 2, x, use_reentrant=False, preserve_rng_state=False).requires_grad


def test_keywords_and_grad():
    x, y = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    out = checkpoint(lambda a, b: a * b * b, x, b=y, use_reentrant=False, preserve_rng_state=False)
    gx, gy = grad(out.sum(), [x, y])
    assert gx.tolist() == [9, 9] and gy.tolist() == [6, 6] and x.grad is None
    with pytest.raises(ValueError, match="Unexpected keyword arguments: b"):
        checkpoint(lambda a, b: a, x, b=y, use_reentrant=True)


@BOTH
def test_dropout_is_the_same_the_second_time(use_reentrant):
    try:
        torch.get_rng_state()
    except TypeError:
        pytest.skip("this build of argand._C does not give the state of a generator")
    x = torch.ones(200, requires_grad=True)
    torch.manual_seed(0)
    out = checkpoint(lambda t: torch.dropout(t, 0.5, True), x, use_reentrant=use_reentrant)
    after = torch.rand(1).item()
    out.sum().backward()
    assert x.grad.tolist() == out.tolist()
    following = torch.rand(1).item()
    torch.manual_seed(0)
    torch.dropout(x, 0.5, True)
    assert [torch.rand(1).item(), torch.rand(1).item()] == [after, following]  # the second run is not seen from outside


@BOTH
def test_autocast_is_the_same_the_second_time(use_reentrant):
    seen = []

    def function(a):
        b = a @ a
        seen.append(b.dtype)
        return b.float()
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        out = checkpoint(function, x, use_reentrant=use_reentrant, preserve_rng_state=False)
    out.sum().backward()
    assert seen == [torch.bfloat16, torch.bfloat16]


@BOTH
def test_sequential(use_reentrant):
    functions, calls = [], []
    for i in range(5):
        functions.append(lambda v, i=i: (calls.append(i), v * (i + 1))[1])
    x = torch.ones(2, requires_grad=True)
    out = checkpoint_sequential(functions, 2, x, use_reentrant=use_reentrant, preserve_rng_state=False)
    assert calls == [0, 1, 2, 3, 4]
    out.sum().backward()
    assert x.grad.tolist() == [120, 120] and calls[5:] == [0, 1]  # the last part is kept


def test_without_gradients():
    with torch.no_grad():
        assert checkpoint(lambda a: a * 2, torch.ones(1), use_reentrant=False).item() == 2
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(lambda a: a * 2, torch.ones(1, requires_grad=True), preserve_rng_state=False)


@BOTH
def test_nested(use_reentrant):
    def inner(a):
        return checkpoint(lambda b: b.exp(), a, use_reentrant=use_reentrant, preserve_rng_state=False) * 2
    x = torch.zeros(2, requires_grad=True)
    checkpoint(inner, x, use_reentrant=use_reentrant, preserve_rng_state=False).sum().backward()
    assert x.grad.tolist() == [2, 2]
