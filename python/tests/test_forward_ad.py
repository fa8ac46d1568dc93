"""torch.autograd.forward_ad, next to derivatives that are known and to those of functional.jvp."""
import argand as torch
import pytest
from argand.autograd import forward_ad as fwAD
from argand.autograd import functional


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("function", [
    lambda x: x.sin(), lambda x: (x @ x.T).tanh().sum(0), lambda x: torch.softmax(x, 1)[:, :2].clone().mul_(3), lambda x: x[[0, 0, 2]].exp().prod(1),
    lambda x: torch.nn.functional.layer_norm(x, (4,)).abs().max(1).values])
def test_tangents_are_products_with_jacobians(function):
    x, t = random(3, 4), random(3, 4)
    with fwAD.dual_level():
        primal, tangent = fwAD.unpack_dual(function(fwAD.make_dual(x, t)))
    expected, slope = functional.jvp(function, x, t)
    assert primal.equal(expected) and torch.allclose(tangent, slope) and not primal.requires_grad and not tangent.requires_grad


def test_what_depends_on_no_dual_has_no_tangent():
    x, t, w = random(3), random(3), random(3).requires_grad_()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        assert fwAD.unpack_dual(dual).tangent is t and fwAD.unpack_dual(dual).primal.equal(x)
        for other in (x, w, w * 2, dual.argmax(), (dual * 2).detach()):
            primal, tangent = fwAD.unpack_dual(other)
            assert tangent is None and primal is other
    assert fwAD.unpack_dual(dual).tangent is None and fwAD.unpack_dual(dual * 2).tangent is None  # the level is over


def test_several_duals_add_up():
    x, y, a, b = (random(3) for _ in range(4))
    with fwAD.dual_level():
        d, e = fwAD.make_dual(x, a), fwAD.make_dual(y, b)
        assert torch.allclose(fwAD.unpack_dual(d * e).tangent, a * y + x * b)
        assert torch.allclose(fwAD.unpack_dual(d ** 2).tangent, 2 * x * a)


def test_tangents_have_gradients_by_what_requires_them():
    x, t, w = random(3), random(3), random(3).requires_grad_()
    with fwAD.dual_level():
        primal, tangent = fwAD.unpack_dual((fwAD.make_dual(x, t) * w).sin())
        assert primal.requires_grad
        slope, = torch.autograd.grad(tangent.sum(), w)
        z = random(3).requires_grad_()
        inner, = torch.autograd.grad((fwAD.make_dual(z, t) ** 3).sum(), z, create_graph=True)  # forward over reverse
        assert torch.allclose(fwAD.unpack_dual(inner).tangent, 6 * z * t)
    assert torch.allclose(slope, t * ((x * w).cos() - x * w * (x * w).sin()))


def test_modules():
    model, x = torch.nn.Linear(2, 1).double(), random(5, 2)
    weight, t = model.weight, random(1, 2)
    with fwAD.dual_level():
        del model.weight
        model.weight = fwAD.make_dual(weight, t)
        assert torch.allclose(fwAD.unpack_dual(model(x)).tangent, x @ t.T)


def test_misuse():
    x = random(3)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with pytest.raises(RuntimeError, match="not the last one"):
        fwAD.exit_dual_level()
    with fwAD.dual_level():
        with pytest.raises(RuntimeError, match="Nested forward mode"):
            fwAD.enter_dual_level()
        for tensor, tangent, error, message in ((x.long(), x, ValueError, "primal to be floating point"), (x, 3, ValueError, "tangent to be"),
                                                (x, x[:2], RuntimeError, "different size than that of the original Tensor"), (x, x.float(), RuntimeError, "dtype of the")):
            with pytest.raises(error, match=message):
                fwAD.make_dual(tensor, tangent)

    @fwAD.dual_level()
    def within():
        return fwAD.unpack_dual(fwAD.make_dual(x, x) * 2).tangent
    assert within().equal(2 * x)


def test_what_runs_while_forward_mode_is_off_has_no_tangents():
    def f(x):
        with fwAD._set_fwd_grad_enabled(False):
            shift = x**2
        return x**3 - shift
    x, t = torch.tensor(1.5), torch.tensor(2.0)
    assert torch.func.jvp(f, (x,), (t,))[1].item() == 13.5 and torch.func.jacfwd(f)(x).item() == 6.75
    assert torch.func.linearize(f, x)[1](t).item() == 13.5
    assert torch.func.jvp(lambda x: torch.func.jvp(f, (x,), (t,))[1], (x,), (t,))[1].item() == 36
    # Gradients know what was recorded, also those of values and of products that jvp gave, and products of gradients.
    assert torch.func.grad(f)(x).item() == torch.func.jacrev(f)(x).item() == torch.func.grad(lambda x: torch.func.jvp(f, (x,), (t,))[0])(x).item() == 3.75
    assert torch.func.grad(lambda x: torch.func.jvp(f, (x,), (t,))[1])(x).item() == 18
    with fwAD._set_fwd_grad_enabled(False):  # a transform has tangents within it
        assert torch.equal(torch.func.jvp(torch.sin, (x,), (t,))[1], t * x.cos()) and not fwAD._is_fwd_grad_enabled()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, t)
        with fwAD._set_fwd_grad_enabled(False):
            shift = dual**2
        assert fwAD.unpack_dual(shift).tangent is None and fwAD.unpack_dual(dual**3 - shift).tangent.item() == 13.5
    assert not fwAD._state.off


def test_forward_mode_is_off_in_functions():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert not fwAD._is_fwd_grad_enabled()
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            assert fwAD._is_fwd_grad_enabled()
            return 2 * grad * ctx.saved_tensors[0]
    x = torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(Square.apply(x), x)[0].item() == 6 and fwAD._is_fwd_grad_enabled()
