"""Functions written in Python: their nodes, what forward may do, what backward gets, forward mode."""
import warnings

import pytest

import argand as torch
from argand._torch import _C as _torch_c
from argand.autograd import Function, forward_ad, gradcheck
from argand.autograd.function import once_differentiable


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


class Same(Function):
    """Returns its input as it came."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        ctx.note = "twice"
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_nodes_have_what_contexts_have():
    a = leaf(1.0)
    y = Twice.apply(a)
    node = y.grad_fn
    assert type(node) is Twice._backward_cls and type(node).__name__ == "TwiceBackward" and node._forward_cls is Twice
    assert node.note == "twice" and node.saved_tensors[0] is a and node.saved_tensors[1] is None and node.needs_input_grad == (True,)
    node.more = 3
    assert y.grad_fn.more == 3 and node.name() == "TwiceBackward" and node.next_functions[0][0].variable is a
    raw = node._raw_saved_tensors
    with pytest.raises(RuntimeError, match="None is forbidden"):
        raw[1].register_hooks(lambda x: x, lambda x: x)
    raw[0].register_hooks(lambda x: x + 1, lambda x: x)
    assert node.saved_tensors[0].item() == 2
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        node.saved_tensors
    with pytest.raises(AttributeError, match="missing"):
        node.missing


def test_contexts_have_what_nodes_have():
    said = []

    class Asks(Twice):
        @staticmethod
        def backward(ctx, grad):
            said.append((ctx.name(), len(ctx.next_functions), ctx.metadata))
            return grad
    Asks.apply(leaf(1.0)).backward()
    assert said == [("AsksBackward", 1, {})]


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        function = Twice()
    with pytest.raises(RuntimeError, match="non-static forward method is deprecated"):
        function(leaf(1.0))
    with pytest.raises(RuntimeError, match="Attribute 'register_hook' is invalid"):
        function.register_hook(print)
    with pytest.raises(RuntimeError, match="Attribute 'next_functions' is invalid"):
        function.next_functions


def test_backward_gets_none_for_results_that_are_no_tensors():
    class Mixed(Function):
        @staticmethod
        def forward(ctx, x, y):
            return "text", x * 2, None, y * 3

        @staticmethod
        def backward(ctx, *grads):
            assert grads[0] is None and grads[2] is None and grads[3].tolist() == [0.0]
            return grads[1] * 2, grads[3] * 3
    a, b = leaf(1.0), leaf(1.0)
    results = Mixed.apply(a, b)
    assert results[0] == "text" and results[2] is None
    results[1].sum().backward()
    assert a.grad.item() == 2 and b.grad.item() == 0


def test_setup_context_gets_defaults_and_keywords():
    class Power(Function):
        @staticmethod
        def forward(x, y=3):
            return x ** y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.y = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def vjp(ctx, grad):
            x, = ctx.saved_tensors
            return grad * ctx.y * x ** (ctx.y - 1), None
    x = leaf(2.0)
    assert torch.autograd.grad(Power.apply(x), x)[0].item() == 12 and torch.autograd.grad(Power.apply(x, y=2), x)[0].item() == 4


def test_a_backward_and_a_vjp_are_one_too_many():
    class Both(Twice):
        @staticmethod
        def vjp(ctx, grad):
            return grad
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(leaf(1.0)).backward()


def test_backward_that_cannot_be_differentiated_says_so():
    class Once(Twice):
        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            x, _ = ctx.saved_tensors
            return grad * x
    x = leaf(3.0)
    found, = torch.autograd.grad(Once.apply(x) * x, x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_differentiable"):
        found.backward()


def test_zeros_are_not_made_for_results_without_gradients():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            first, second = x.clone(), x.clone()
            ctx.mark_non_differentiable(second)
            ctx._materialize_non_diff_grads = False
            return first, second

        @staticmethod
        def backward(ctx, first, second):
            assert second is None
            return first
    Two.apply(leaf(1.0))[0].backward()


def test_undefined_gradients_reach_functions():
    seen = []

    class Sees(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad)
            return grad
    _torch_c._functions.UndefinedGrad()(Sees.apply(leaf(1.0))).backward()
    assert seen == [None]


def test_views_that_functions_made_are_not_written():
    class View(Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * 10
    for base in (leaf(1.0, 2.0).clone(), torch.rand(2)):
        view = View.apply(base)
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            view.mul_(leaf(3.0))
    a = leaf(1.0)
    View.apply(a.clone()).clone().mul_(2).backward()
    assert a.grad.item() == 20


def test_what_is_marked_dirty():
    class Add(Function):
        @staticmethod
        def forward(ctx, a, b, results):
            ctx.mark_dirty(a)
            a.add_(b)
            return results(a, b)

        @staticmethod
        def backward(ctx, *grads):
            return sum(grads), sum(grads), None
    a, b = leaf(1.0), leaf(2.0)
    Add.apply(a.clone(), b, lambda a, b: a).backward()
    assert a.grad.item() == 1 and b.grad.item() == 1
    with pytest.raises(RuntimeError, match="were not returned as output"):
        Add.apply(a.clone(), b, lambda a, b: a.clone())
    with pytest.raises(RuntimeError, match="your Function modifies inplace an input that is a view of another Tensor"):
        Add.apply(a.clone().view_as(a), b, lambda a, b: (a, a + b))

    class Other(Twice):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Other.apply(a).backward()
    assert len(said) == 1 and "Only input Tensors should be given" in str(said[0].message)


class Product(Function):
    """Whose jvp says that it is not what backward's product would be."""

    @staticmethod
    def forward(ctx, x, y, factor):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.factor = factor
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x, None

    @staticmethod
    def jvp(ctx, x_t, y_t, _):
        x, y = ctx.saved_tensors
        return ctx.factor * (0 if x_t is None else x_t * y) + ctx.factor * (0 if y_t is None else y_t * x)


def test_jvp_gives_tangents_in_forward_mode():
    x, y = torch.tensor([2.0], dtype=torch.float64, requires_grad=True), torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        product = Product.apply(dual, y, 10.0)
        assert forward_ad.unpack_dual(product).tangent.item() == 30
        after = product * product + dual
        assert forward_ad.unpack_dual(after).tangent.item() == 2 * 6 * 30 + 1
        after.backward()
    assert x.grad.item() == 2 * 6 * 3 + 1 and y.grad.item() == 2 * 6 * 2
    assert gradcheck(lambda a, b: Product.apply(a, b, 1.0), (x, y), check_forward_ad=True)
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(lambda a, b: Product.apply(a, b, 1.5), (x, y), check_forward_ad=True)


def test_jvp_gets_zeros_and_is_checked():
    class Two(Function):
        @staticmethod
        def forward(ctx, x, y, how):
            ctx.how = how
            first, second = x * 2, y.clone()
            ctx.mark_non_differentiable(second)
            return first, second

        @staticmethod
        def jvp(ctx, x_t, y_t, _):
            assert y_t.tolist() == [0.0]
            return x_t * 2, ctx.how(y_t)
    x, y = torch.tensor([1.0]), torch.tensor([2.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(1))
        assert forward_ad.unpack_dual(Two.apply(dual, y, lambda t: None)[0]).tangent.item() == 2
        with pytest.raises(RuntimeError, match="You should return None at that position instead"):
            Two.apply(dual, y, lambda t: t)
        with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
            forward_ad.make_dual(x, dual)
        assert "tangent=tensor([1.])" in repr(dual) and "tangent" not in repr(x)
    weight = torch.tensor([3.0], requires_grad=True)
    with forward_ad.dual_level():
        primal, _ = forward_ad.unpack_dual(forward_ad.make_dual(weight, torch.ones(1)))
        assert torch.autograd.grad(primal * 2, weight)[0].item() == 2


@pytest.mark.parametrize("of_tangent, right", [(lambda t: t.view_as(t), True), (lambda t: t, False), (lambda t: t * 2, False)])
def test_tangents_of_views_are_views(of_tangent, right):
    class SameOfTangent(Same):
        @staticmethod
        def jvp(ctx, x_t):
            return of_tangent(x_t)
    for tangent in (torch.ones(2), torch.ones(2, 1)[:, 0]):
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(torch.ones(2), tangent)
            if right:
                assert forward_ad.unpack_dual(SameOfTangent.apply(dual)).tangent.tolist() == [1.0, 1.0]
                continue
            with pytest.raises(RuntimeError, match="forward is returning a view .* but the jvp is not returning a view"):
                SameOfTangent.apply(dual)


def test_jvp_of_what_writes_must_write():
    class Double(Function):
        @staticmethod
        def forward(ctx, x, writes):
            ctx.mark_dirty(x)
            ctx.writes = writes
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

        @staticmethod
        def jvp(ctx, x_t, _):
            return x_t.mul_(2) if ctx.writes else x_t
    for start in (torch.tensor([1.0]), leaf(1.0).clone()):
        with forward_ad.dual_level():
            tangent = torch.ones(1)
            dual = forward_ad.make_dual(start, tangent)
            result = Double.apply(dual, True)
            assert result is dual and forward_ad.unpack_dual(result).tangent is tangent and tangent.item() == 2
            with pytest.raises(RuntimeError, match="jvp function must modify the corresponding gradient inplace"):
                Double.apply(forward_ad.make_dual(start, torch.ones(1)), False)


def test_tangents_of_what_was_written():
    x, t = torch.tensor([2.0, 3.0]), torch.tensor([1.0, 10.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        dual.mul_(3)
        assert forward_ad.unpack_dual(dual).tangent.tolist() == [3.0, 30.0]
        with pytest.raises(RuntimeError, match="forward gradient that has a different size"):
            forward_ad.make_dual(x, t[:1])


def test_tangents_do_not_travel_while_that_is_off():
    x = torch.ones(2)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        with forward_ad._set_fwd_grad_enabled(False):
            assert forward_ad.unpack_dual(dual * 2).tangent is None
        assert forward_ad.unpack_dual(dual * 2).tangent.tolist() == [2.0, 2.0] and forward_ad._current_level == 0
    assert forward_ad._current_level == -1


@pytest.mark.parametrize("save", ["save_for_backward", "save_for_forward"])
@pytest.mark.parametrize("what", ["input", "output"])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_input_that_is_a_result_is_not_saved_after_forward(save, what, requires_grad):
    def made(forward):
        class Same(Function):
            @staticmethod
            def setup_context(ctx, inputs, output):
                getattr(ctx, save)(inputs[0] if what == "input" else output)

            @staticmethod
            def backward(ctx, grad):
                return grad
        Same.forward = staticmethod(forward)
        return Same
    x = torch.ones(2, requires_grad=requires_grad)
    with pytest.raises(RuntimeError, match="An input that has been returned as-is"):
        made(lambda x: x).apply(x)
    assert made(lambda x: x.view_as(x)).apply(x).tolist() == [1, 1]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_input_that_is_a_result_is_a_tensor_of_its_own(requires_grad):
    x = torch.ones(2, requires_grad=requires_grad)
    y = Same.apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y._is_view() and y.requires_grad == requires_grad
    with torch.no_grad():
        z = Same.apply(x)
    assert z is not x and not z.requires_grad and z.data_ptr() == x.data_ptr()

    class Marked(torch.Tensor):
        pass
    assert type(Same.apply(torch.ones(2).as_subclass(Marked))) is Marked
    w = torch.ones(2)
    Same.apply(w).add_(1)
    assert w.tolist() == [2, 2]


def test_a_tensor_has_what_its_dir_names():
    x = torch.ones(2, 2)
    assert "shape" in dir(x) and all(hasattr(x, name) for name in dir(x) if name != "imag")
