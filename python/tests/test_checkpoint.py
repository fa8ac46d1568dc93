"""utils.checkpoint: the gradients are those without it, and the function runs twice."""
import gc
import weakref

import argand as torch
import pytest
from argand.autograd import grad
from argand.nn.parameter import Parameter
from argand.utils.checkpoint import (CheckpointError, CheckpointFunction, GraphExecGroup, checkpoint, checkpoint_sequential,
                                     set_checkpoint_debug_enabled, set_checkpoint_early_stop)

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
    with torch.autocast("cpu"), set_checkpoint_early_stop(False):
        out = checkpoint(function, x, use_reentrant=use_reentrant, preserve_rng_state=False)
    out.sum().backward()
    assert seen == [torch.bfloat16, torch.bfloat16]


@BOTH
def test_sequential(use_reentrant):
    functions, calls = [], []
    for i in range(5):
        functions.append(lambda v, i=i: (calls.append(i), v * torch.tensor(i + 1.0))[1])
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


# ---- use_reentrant=False: by what ops save

def keep(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=False, **kwargs)


def test_gradients_of_parameters_by_grad_leave_no_trace():
    w, x = Parameter(torch.tensor([2.0, 3.0])), torch.tensor([0.5, 1.5], requires_grad=True)
    out = keep(lambda a: (a * w).sin(), x).sum()
    of_w, of_x = grad(out, [w, x])
    cos = torch.cos(x * w).detach()
    assert torch.allclose(of_w, cos * x.detach()) and torch.allclose(of_x, cos * w.detach())
    assert w.grad is None and x.grad is None
    keep(lambda a: (a * w).sin(), x).sum().backward(inputs=[w])
    assert torch.allclose(w.grad, of_w) and x.grad is None


def test_second_derivatives():
    x, w = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True), torch.tensor(1.5, dtype=torch.float64, requires_grad=True)

    def function(a):
        return (a * w).sin() * a.exp()
    for f in (lambda a: keep(function, a), lambda a: keep(lambda b: keep(function, b) * b, a), lambda a: keep(function, a * 2).tanh()):
        assert torch.autograd.gradcheck(f, (x,)) and torch.autograd.gradgradcheck(f, (x,))
    first, = grad(keep(function, x).sum(), w, create_graph=True)
    of_w, of_x = grad(first, [w, x])
    plain, = grad(function(x).sum(), w, create_graph=True)
    for ours, right in zip((of_w, of_x), grad(plain, [w, x])):
        assert torch.allclose(ours, right)


def counted(calls, function):
    def call(*args):
        calls.append(torch.is_grad_enabled())
        return function(*args)
    return call


def test_runs_again_once_for_each_backward_pass():
    calls, x = [], torch.ones(2, requires_grad=True)
    out = keep(counted(calls, lambda a: a.sin().exp().cos()), x).sum()
    for n in (2, 3):
        out.backward(retain_graph=True)
        assert calls == [True] * n
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()
        out.backward()
    assert len(calls) == 4


def test_nothing_is_kept_until_the_backward_pass():
    saved = []

    def function(a):
        b = a.sin()
        saved.append(weakref.ref(b))
        return b.exp().sum()
    out = keep(function, torch.ones(3, requires_grad=True))
    gc.collect()
    assert saved[0]() is None
    out.backward()
    del out
    gc.collect()
    assert [r() for r in saved] == [None, None]


def test_the_second_run_ends_when_all_is_there():
    lines = []

    def function(a):
        b = a.sin().exp()
        lines.append("saved")
        c = b + 1
        lines.append("more")
        return c
    x = torch.ones(2, requires_grad=True)
    keep(function, x).sum().backward()
    assert lines == ["saved", "more"]  # the result of exp is the last that is saved
    keep(function, x, early_stop=False).sum().backward()
    assert lines[2:] == ["saved", "more"] * 2
    with set_checkpoint_early_stop(False):
        out = keep(function, x)
    out.sum().backward()
    assert lines[6:] == ["saved", "more"] * 2
    with set_checkpoint_early_stop(True):
        keep(function, x, early_stop=False).sum().backward()
    assert lines[10:] == ["saved", "more"]


def changing(first, second):
    """A function that is another one the second time."""
    functions = iter((first, second))
    return lambda *args: next(functions)(*args)


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_second_run_that_differs(early_stop):
    x = torch.ones(3, requires_grad=True)
    run = dict(early_stop=early_stop)
    with pytest.raises(CheckpointError, match="A different number of tensors was saved during the original forward and recomputation.\nNumber "
                                              "of tensors saved during forward: 3\nNumber of tensors saved during recomputation: 2."):
        keep(changing(lambda a: a.sin().cos().exp(), lambda a: a.sin().exp()), x, **run).sum().backward()
    more = keep(changing(lambda a: a.sin().exp(), lambda a: a.sin().cos().exp()), x, **run).sum()
    if early_stop:
        more.backward()  # as in PyTorch: what comes behind is not seen
    else:
        with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation than during the original forward pass"):
            more.backward()
    with pytest.raises(CheckpointError) as error:
        keep(changing(lambda a: a.sin(), lambda a: a[:2].double().sin()), x, **run).sum().backward()
    assert ("tensor at position 0:\nsaved metadata: {'shape': torch.Size([3]), 'dtype': torch.float32, 'device': device(type='cpu')}\n"
            "recomputed metadata: {'shape': torch.Size([2]), 'dtype': torch.float64, 'device': device(type='cpu')}") in str(error.value)
    # Without the check what was computed is used, as it is.
    keep(changing(lambda a: a.sin(), lambda a: (a * 2).sin().cos()), x, determinism_check="none", early_stop=True).sum().backward()
    with pytest.raises(ValueError, match=r"determinism_check should be one of \['default', 'none'\], but got often"):
        keep(torch.sin, x, determinism_check="often")


def test_a_region_that_raised_runs_again_as_far_as_it_came():
    x = torch.tensor(2.0, requires_grad=True)
    kept = []

    def function(a):
        kept.append(a.sin().exp())
        raise KeyError("stop")
    with pytest.raises(KeyError):
        keep(function, x)
    with pytest.raises(KeyError, match="stop"):
        keep(function, x, early_stop=False)
    kept[0].backward()
    assert torch.allclose(x.grad, (x.sin().exp() * x.cos()).detach())


def test_contexts():
    class Mark:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            names.append(self.name)

        def __exit__(self, *_):
            names.append("-")
    names, x = [], torch.ones(1, requires_grad=True)
    out = keep(torch.exp, x, context_fn=lambda: (Mark("first"), Mark("second")))
    assert names == ["first", "-"]
    out.backward()
    assert names == ["first", "-", "second", "-"]
    for wrong in (dict(context_fn=lambda: (Mark("a"), Mark("b"))), dict(debug=True), dict(respect_saved_tensors_hooks=True)):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(torch.exp, x, use_reentrant=True, **wrong)
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        keep(torch.exp, x, debug=True, context_fn=lambda: (Mark("a"), Mark("b")))


def test_debug_tells_what_both_runs_called():
    x = torch.ones(3, requires_grad=True)

    def run(**options):
        keep(changing(lambda a: a.sin().cos().exp(), lambda a: a.sin().exp()), x, **options).sum().backward()
    with pytest.raises(CheckpointError) as error:
        run(debug=True)
    text = str(error.value)
    assert "f32[3] = cos(f32[3])   (2 of 3 in original)" in text and "f32[3] = exp(f32[3])   (2 of 2 in recompute)" in text
    assert "test_checkpoint.py" in text and "A different number of tensors was saved" in text
    with set_checkpoint_debug_enabled(True), pytest.raises(CheckpointError, match="in recompute"):
        run()
    with set_checkpoint_debug_enabled(False), pytest.raises(CheckpointError, match="torch.utils.checkpoint: A different number"):
        run(debug=True)


def test_saved_tensors_are_given_once():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0] * ctx.saved_tensors[0] * g
    with pytest.raises(CheckpointError, match="already unpacked once"):
        keep(Twice.apply, torch.ones(2, requires_grad=True)).sum().backward()


def test_an_argument_that_was_changed_is_noticed():
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    out = keep(lambda a: a.sin(), y).sum()
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_nested_three_deep_with_parameters():
    layers = [torch.nn.Linear(3, 3) for _ in range(3)]
    calls = []

    def deep(level, v):
        calls.append(level)
        v = layers[level](v).tanh()
        return keep(deep, level + 1, v).sigmoid() if level < 2 else v
    x = torch.randn(2, 3, requires_grad=True)
    every = [x, *(p for m in layers for p in m.parameters())]
    found = grad(keep(deep, 0, x).sum(), every)
    v = x
    for m in layers:
        v = m(v).tanh()
    for ours, right in zip(found, grad(v.sigmoid().sigmoid().sum(), every)):
        assert torch.allclose(ours, right)


def test_as_a_decorator_and_in_a_group():
    calls = []

    @checkpoint(use_reentrant=False)
    def function(a, b=1):
        calls.append(b)
        return a.exp() * b, a.sin()
    x = torch.ones(2, requires_grad=True)
    first, second = function(x, b=2)
    with GraphExecGroup():
        first.sum().backward(retain_graph=True)
        second.sum().backward()
    assert calls == [2, 2] and function.__name__ == "function"
    first, second = function(x)
    first.sum().backward(retain_graph=True)
    second.sum().backward()
    assert calls[2:] == [1, 1, 1]


def test_a_backward_pass_within_the_backward_pass_is_for_all_leaves():
    x = torch.ones(2, requires_grad=True)
    message = "incompatible with .grad\\(\\) or passing an `inputs` parameter"
    with pytest.raises(RuntimeError, match=message):
        grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x)
    with pytest.raises(RuntimeError, match=message):
        checkpoint(torch.sin, x, use_reentrant=True).sum().backward(inputs=[x])
    assert x.grad is None
    CheckpointFunction.apply(torch.sin, True, x).sum().backward()
    assert torch.allclose(x.grad, x.cos().detach())
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True, this checkpoint\\(\\) is not necessary"):
        checkpoint(lambda a: a.detach(), x, use_reentrant=True).sum().backward()
