"""torch.autograd.forward_ad, next to derivatives that are known and to those of functional.jvp."""
import gc
import weakref

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


def tangent_of(t):
    return fwAD.unpack_dual(t).tangent


def test_nothing_is_recorded():
    x, t = random(3), random(3)
    with fwAD.dual_level(), torch.no_grad():
        dual = fwAD.make_dual(x, t)
        y = (dual * 2).softmax(0)
        assert not dual.requires_grad and not y.requires_grad and not tangent_of(y).requires_grad
        torch.testing.assert_close(tangent_of(y), functional.jvp(lambda x: (x * 2).softmax(0), x, t)[1])
    with torch.inference_mode(), fwAD.dual_level():
        assert tangent_of(fwAD.make_dual(torch.ones(2), torch.ones(2)).logsumexp(0)).item() == 1


def test_a_level_keeps_nothing():
    class Memory(bytearray):
        """Of which there are weak references."""

    def dual():
        memory = Memory(24)
        return fwAD.make_dual(torch.zeros(3, dtype=torch.float64), torch.frombuffer(memory, dtype=torch.float64)), weakref.ref(memory)
    with fwAD.dual_level():
        x, memory = dual()
        gc.collect()
        assert memory() is not None
        del x
        gc.collect()
        assert memory() is None
        x, memory = dual()
    gc.collect()
    assert memory() is None and tangent_of(x) is None


def test_writes_change_tangents():
    x, t = random(4), random(4)
    with fwAD.dual_level():
        y = fwAD.make_dual(x, t) * 1
        before = tangent_of(y)
        y.mul_(y)
        assert tangent_of(y) is before and torch.allclose(before, 2 * x * t)
        y.exp_()
        torch.testing.assert_close(tangent_of(y), 2 * x * t * (x * x).exp())
        y[1:3] = 7.0
        assert tangent_of(y)[1:3].tolist() == [0, 0] and tangent_of(y)[0] != 0
        y.fill_(3)
        assert not tangent_of(y).any()


def test_a_write_to_a_view_is_one_to_its_base():
    x, t = random(3), random(3)
    with fwAD.dual_level():
        base = torch.zeros(2, 3, dtype=torch.float64)
        view, later = base[1], base.view(6)
        view.copy_(fwAD.make_dual(x, t).sin())
        slope = t * x.cos()
        for whole in (base.flatten(), later, base.t().t().reshape(6)):
            torch.testing.assert_close(tangent_of(whole), torch.cat([torch.zeros(3, dtype=torch.float64), slope]))
        later[5:].zero_()
        assert tangent_of(view)[2] == 0 and tangent_of(view)[1] == slope[1]
        primal = fwAD.unpack_dual(base).primal
        assert tangent_of(primal) is None and tangent_of(primal[1]) is None and tangent_of(base.detach()) is None


def test_levels_are_apart():
    x = torch.tensor(2.0, dtype=torch.float64)
    one = torch.ones_like(x)

    def slope(f):
        return lambda x: torch.func.jvp(f, (x,), (one,))[1]
    assert slope(slope(slope(lambda x: x**4)))(x) == 48
    assert slope(lambda x: x * slope(lambda y: x + y)(one))(x) == 1  # no confusion of the levels
    assert torch.func.grad(slope(lambda x: x**3))(x) == slope(torch.func.grad(lambda x: x**3))(x) == 12
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, one)
        value, along = torch.func.jvp(lambda y: dual * y**2, (x,), (one,))
        assert along == 8 and tangent_of(along) == 4 and tangent_of(value) == 4
        assert tangent_of(slope(lambda y: y**3)(dual)) == 12


@pytest.mark.parametrize("f", [
    lambda x: (x @ x.T).tanh().sum(), lambda x: torch.nn.functional.layer_norm(x, (3,)).pow(3).sum(), lambda x: x.prod() + x.norm(),
    lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 2])), lambda x: x.clone().mul_(x).exp_().sum(),
    lambda x: x.unfold(1, 2, 1).softmax(-1).square().sum()])
def test_second_derivatives_in_all_orders(f):
    x = random(2, 3)
    expected = functional.hessian(f, x)
    jacfwd, jacrev = torch.func.jacfwd, torch.func.jacrev
    for outer, inner in ((jacfwd, jacfwd), (jacfwd, jacrev), (jacrev, jacfwd)):
        torch.testing.assert_close(outer(inner(f))(x), expected)
    torch.testing.assert_close(functional.hessian(f, x, vectorize=True, outer_jacobian_strategy="forward-mode"), expected)


def test_with_vmap():
    x, w = random(4, 3), random(3)
    units = torch.eye(3, dtype=torch.float64)

    def f(x):
        return (x * w).sin().cumsum(0)
    jacobians = torch.stack([functional.jacobian(f, row) for row in x])
    torch.testing.assert_close(torch.vmap(torch.func.jacfwd(f))(x), jacobians)
    along = torch.vmap(lambda x, u: torch.func.jvp(f, (x,), (u,))[1], in_dims=(None, 0))(x[0], units)
    torch.testing.assert_close(along, jacobians[0].T)
    value, along = torch.func.jvp(torch.vmap(f), (x,), (x,))  # vmap further in
    torch.testing.assert_close(along, torch.einsum("bij,bj->bi", jacobians, x))
    torch.testing.assert_close(torch.func.jacfwd(lambda w: torch.vmap(lambda x: (x * w).sin())(x))(w),
                               functional.jacobian(lambda w: (x * w).sin(), w))
    with fwAD.dual_level():
        dual = fwAD.make_dual(w, w)
        torch.testing.assert_close(tangent_of(torch.vmap(lambda x: (x * dual).sin())(x)), (x * w).cos() * x * w)


def test_ops_without_a_derivative():
    x = random(3).abs()
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, x)
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with .* that does not support it"):
            torch.igamma(dual, x)
        with pytest.raises(NotImplementedError, match="mul_out that does not support it because it is an out= function"):
            torch.mul(dual, x, out=torch.empty(3, dtype=torch.float64))
        assert tangent_of(dual > 0) is None and not tangent_of(dual.sign()).any()


def test_a_function_without_jvp_has_no_tangents():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def vjp(ctx, grad):
            return 2 * grad
    with fwAD.dual_level(), pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        Twice.apply(fwAD.make_dual(random(2), random(2)))
    assert torch.func.grad(lambda x: Twice.apply(x).sum())(random(2)).tolist() == [2, 2]


def test_running_statistics_have_no_tangents():
    x, mean, var = random(4, 2), torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    with fwAD.dual_level():
        dual = fwAD.make_dual(x, x)
        assert tangent_of(torch.nn.functional.batch_norm(dual, mean, var, training=True)) is not None and tangent_of(mean) is None
        with pytest.raises(RuntimeError, match="batch_norm is not differentiable wrt running_mean and running_var"):
            torch.nn.functional.batch_norm(dual, fwAD.make_dual(mean, mean), var)
        with pytest.raises(RuntimeError, match="batch_norm is not differentiable wrt running_mean and running_var"):
            torch.nn.functional.batch_norm(x, mean, fwAD.make_dual(var, var))
