"""torch._foreach_*: the ways to call them, in place, gradients, what they refuse."""
import argand as torch
import pytest


def tensors():
    return [torch.tensor([1.0, -4.0]), torch.tensor([[0.25, 9.0]])]


@pytest.mark.parametrize("name, args, expected", [
    ("add", (2,), lambda t: t + 2), ("mul", ([2, 3],), None), ("sub", (torch.tensor(1.5),), lambda t: t - 1.5),
    ("div", (4,), lambda t: t / 4), ("maximum", (0.5,), lambda t: t.clamp(min=0.5)), ("clamp_max", (1,), lambda t: t.clamp(max=1)),
    ("pow", (2,), lambda t: t * t), ("abs", (), torch.abs), ("sqrt", (), torch.sqrt), ("neg", (), torch.neg),
    ("addcmul", ([2.0 * t for t in tensors()], tensors(), 0.5), lambda t: t + t * t),
    ("addcdiv", (tensors(), tensors(), [3.0, 3.0]), lambda t: t + 3), ("lerp", ([2 * t for t in tensors()], 0.25), lambda t: 1.25 * t)])
def test_foreach(name, args, expected):
    want = [2 * tensors()[0], 3 * tensors()[1]] if expected is None else [expected(t) for t in tensors()]
    got = getattr(torch, "_foreach_" + name)(tensors(), *args)
    assert isinstance(got, tuple)
    torch.testing.assert_close(list(got), want, equal_nan=True)
    changed = tensors()
    assert getattr(torch, f"_foreach_{name}_")(changed, *args) is changed
    torch.testing.assert_close(changed, want, equal_nan=True)


def test_foreach_of_lists():
    ts = tensors()
    torch.testing.assert_close(torch._foreach_norm(ts), tuple(t.norm() for t in ts))
    torch.testing.assert_close(torch._foreach_add(ts, ts, alpha=3), tuple(4 * t for t in ts))
    torch._foreach_copy_(ts, [torch.zeros(2), torch.ones(1, 2)])
    assert ts[1].tolist() == [[1, 1]]
    torch._foreach_zero_(ts)
    assert ts[1].tolist() == [[0, 0]]
    assert [t.item() for t in torch._foreach_max([torch.tensor([1.0, 3.0]), torch.tensor([[2.0]])])] == [3, 2]
    assert [t.item() for t in torch._foreach_powsum([torch.tensor([1.0, -3.0])], 3)] == [28]
    assert torch._foreach_mm([torch.ones(2, 3)], [torch.ones(3, 2)])[0].tolist() == [[3, 3], [3, 3]]
    assert torch._foreach_pow(2, [torch.tensor([1.0, 3.0])])[0].tolist() == [2, 8]


@pytest.mark.parametrize("call, error, message", [
    (lambda t: torch._foreach_add([], 1), RuntimeError, "_foreach_add: Tensor list must have at least one tensor."),
    (lambda t: torch._foreach_exp_([]), RuntimeError, "_foreach_exp_: Tensor list must have at least one tensor."),
    (lambda t: torch._foreach_add(t, [1]), RuntimeError, "Tensor list must have same number of elements as scalar list."),
    (lambda t: torch._foreach_add(t, t[:1]), RuntimeError, "Tensor lists must have the same number of tensors, got 2 and 1"),
    (lambda t: torch._foreach_lerp(t, t, t[:1]), RuntimeError, "Tensor lists must have the same number of tensors, got 2 and 1"),
    (lambda t: torch._foreach_addcmul(t, t, t, torch.ones(3)), RuntimeError,
     "Expected length of scalars to match input of length 2 but got 3 instead."),
    (lambda t: torch._foreach_addcmul(t, t, t, scalars=torch.ones(1, 2)), RuntimeError,
     "Expected packed scalar Tensor to be of dimension 1. Got 2 instead."),
    (lambda t: torch._foreach_mul(t, torch.ones(2)), RuntimeError,
     "scalar tensor expected to be 0 dim but it has 1 dimensions and 2 elements."),
    (lambda t: torch._foreach_add_([torch.ones(2, dtype=torch.int64)], 1.5), RuntimeError, "can't be cast to the desired output type"),
    (lambda t: torch._foreach_abs_([torch.ones(2, dtype=torch.complex64)]), RuntimeError,
     "In-place abs is not supported for complex tensors."),
    (lambda t: torch._foreach_max([torch.ones(0)]), RuntimeError, "cannot compute the maximum of an empty tensor"),
    (lambda t: torch._foreach_sub([torch.ones(2) > 0], 1), RuntimeError, "with a bool tensor is not supported"),
    (lambda t: torch._foreach_add(t[0], 1), TypeError, "invalid combination of arguments - got (Tensor, int)"),
    (lambda t: torch._foreach_add(t, 1, alpha=2), TypeError, "got (list, int, alpha=int), but expected one of:\n * (tuple of Tensors self,"),
    (lambda t: torch._foreach_sub(t, t, 2), TypeError, "tuple of Tensors other, *, Number alpha = 1)"),
    (lambda t: torch._foreach_exp(t, 1), TypeError, "invalid combination of arguments - got (list, int)"),
    (lambda t: torch._foreach_add([1], 1), TypeError, "invalid combination of arguments")])
def test_what_foreach_refuses(call, error, message):
    with pytest.raises(error) as caught:
        call(tensors())
    assert message in str(caught.value)


def test_foreach_by_names():
    ts, twice = tensors(), [2 * t for t in tensors()]
    for got in (torch._foreach_add(self=ts, other=ts), torch._foreach_mul(ts, scalar=2), torch._foreach_mul(ts, scalars=[2, 2]),
                torch._foreach_lerp(ts, tensors1=twice, weight=1.0), torch._foreach_lerp(ts, twice, weights=[torch.ones(()), torch.ones(())]),
                torch._foreach_addcmul(ts, ts, tensor2=[torch.ones(()), torch.ones(())], value=torch.tensor(1.0)),
                torch._foreach_addcmul(ts, ts, [torch.ones(2), torch.ones(2)], scalars=torch.ones(2))):
        torch.testing.assert_close(list(got), twice)


def test_gradients_go_through_what_is_in_place():
    def function(a, b, weight):
        ts = [a * 1, b * 1]
        torch._foreach_mul_(ts, [b.sum(), a.sum()])
        torch._foreach_add_(ts, weight)
        torch._foreach_lerp_(ts, [b, a], [weight, weight])
        torch._foreach_sigmoid_(ts)
        return tuple(torch._foreach_pow(ts, 2))
    inputs = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([0.3, -0.5], [0.2, 0.9], 0.4)]
    assert torch.autograd.gradcheck(function, inputs)


def test_in_place_keeps_the_version_of_each_tensor():
    ts = tensors()
    before = [t._version for t in ts]
    torch._foreach_add_(ts, 1)
    assert [t._version for t in ts] == [v + 1 for v in before]
