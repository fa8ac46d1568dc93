"""Nodes of the graph for programs that look at it: hooks on them, what they keep, edges as ends of backward, the engine's own names."""
import gc
import warnings
import weakref

import pytest

import argand as torch
from argand._torch import _C as _torch_c
from argand.autograd.graph import GradientEdge, Node, get_gradient_edge
from argand.utils.flop_counter import FlopCounterMode


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def test_hooks_of_nodes_replace_gradients_in_pytorchs_order():
    log = []

    def tensor_hook(g):
        log.append("tensor")
        return g * 3

    def prehook(grads):
        log.append("before")
        return tuple(g * 2 for g in grads)

    def posthook(found, grads):
        log.append("after")
        assert grads[0].item() == 12 and found[0].item() == 12
        return (found[0] + 1,)
    a = leaf(1.0)
    b = a.clone()
    handle = b.grad_fn.register_prehook(prehook)
    b.register_hook(tensor_hook)
    b.grad_fn.register_prehook(prehook)
    b.grad_fn.register_hook(posthook)
    b.sum().backward(retain_graph=True)
    assert log == ["tensor", "before", "before", "after"] and a.grad.item() == 13
    handle.remove()
    handle.remove()
    log.clear()
    assert torch.autograd.grad(b.sum(), b, retain_graph=True)[0].item() == 3 and log == ["tensor"]


def test_hooks_run_on_leaves_and_on_functions_with_several_results():
    seen = []
    a = leaf(1.0, 2.0)
    b = a.clone()
    end = b.grad_fn.next_functions[0][0]
    end.register_hook(lambda found, grads: seen.append((len(found), grads[0].tolist())))
    b.sum().backward()
    assert seen == [(0, [1.0, 1.0])] and end.variable is a
    x = torch.rand(3, 3, requires_grad=True)
    var, mean = torch.var_mean(x, dim=0)
    mean.grad_fn.register_prehook(lambda grads: tuple(g * 2 for g in grads))
    (var + mean).sum().backward()
    y = x.detach().requires_grad_()
    sum(torch.var_mean(y, dim=0)).sum().backward()
    assert torch.allclose(x.grad, 2 * y.grad)
    with pytest.raises(RuntimeError, match="prehook has returned an incorrect number of gradients"):
        b = a.clone()
        b.grad_fn.register_prehook(lambda grads: (*grads, None))
        b.sum().backward()


@pytest.mark.parametrize("changed, message", [
    (lambda g: g.double(), r"has changed the type of value \(was float32 got float64\)"),
    (lambda g: g + 0j, "has changed the type of value"),
    (lambda g: g.expand(2, 3), r"has changed the size of value \(was \[3\] got \[2, 3\]\)"),
    (lambda g: g.sum(), "has changed the size of value"),
    (lambda g: g.to("meta"), "has changed the device of value")])
@pytest.mark.parametrize("where", ["leaf", "result", "before", "after"])
def test_what_a_hook_returns_is_like_the_gradient(where, changed, message):
    a = leaf(1.0, 2.0, 3.0)
    b = a * 2

    def before(grads):
        return (changed(grads[0]),)

    def after(found, grads):
        return (changed(found[0]), *found[1:])

    if where == "leaf":
        a.register_hook(changed)
    elif where == "result":
        b.register_hook(changed)
    elif where == "before":
        b.grad_fn.register_prehook(before)
    else:
        b.grad_fn.register_hook(after)
    name = {"before": "before", "after": "after"}.get(where, "<lambda>")
    with pytest.raises(RuntimeError, match=f"hook '{name}' {message}"):
        b.sum().backward()
    assert a.grad is None


def test_a_hook_cannot_make_a_gradient_of_none():
    a = leaf(1.0, 2.0, 3.0)
    q, r = torch.linalg.qr(a.view(3, 1))
    r.register_hook(lambda g: torch.ones(1, 1))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        q.sum().backward()
    b = a * 2
    b.grad_fn.register_prehook(lambda grads: (None,))
    b.sum().backward()
    assert a.grad is None


def test_a_node_has_one_object_and_a_dict_of_its_own():
    a = leaf(1.0)
    b = a * 2
    assert b.grad_fn is b.grad_fn and isinstance(b.grad_fn, Node) and issubclass(type(b.grad_fn), Node) and Node not in type(b.grad_fn).mro()
    b.grad_fn.metadata["note"] = 3
    assert b.sum().grad_fn.next_functions[0][0].metadata == {"note": 3}
    assert b.grad_fn._input_metadata[0].shape == (1,) and b.grad_fn._input_metadata[0].dtype == torch.float32
    number = b.grad_fn._sequence_nr()
    b.grad_fn._set_sequence_nr(number + 5)
    assert b.grad_fn._sequence_nr() == number + 5
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        b.grad_fn(a, a)
    assert b.grad_fn(torch.ones(1))[0].item() == 2


def test_a_hook_that_holds_its_node_is_collected_with_it():
    class Mark:
        pass

    def make():
        mark, b = Mark(), leaf(1.0).clone()
        node = b.grad_fn
        node.register_hook(lambda *_: (node, mark))
        return weakref.ref(mark)
    ref = make()
    gc.collect()
    assert ref() is None


def test_what_nodes_keep():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    c = a * 2
    d = c * b
    assert d.grad_fn._saved_other is b and d.grad_fn._saved_self.equal(c) and d.grad_fn._saved_self.grad_fn is c.grad_fn
    assert c.grad_fn._saved_self is None and "_saved_self" in dir(c.grad_fn)
    e = d.exp()
    assert e.grad_fn._saved_result.equal(e) and e.grad_fn._saved_result.grad_fn is e.grad_fn
    assert torch.stack([a, b], dim=0).grad_fn._saved_dim == 0
    assert a.reshape(2, 1).expand(2, 3)[:, torch.tensor([0, 1])].grad_fn._saved_indices[0] is None
    with pytest.raises(AttributeError, match="'ExpBackward0' object has no attribute '_saved_other'"):
        e.grad_fn._saved_other
    e.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        e.grad_fn._saved_result
    with pytest.raises(RuntimeError, match="from Python is forbidden"):
        torch.autograd.SavedTensor()


def test_hooks_can_pack_what_is_kept_already():
    a = leaf(1.0, 2.0)
    b = a * a
    raw = b.grad_fn._raw_saved_self
    assert isinstance(raw, torch.autograd.SavedTensor)
    raw.register_hooks(lambda x: x * 2, lambda x: x)
    assert b.grad_fn._saved_self.equal(a * 2)
    with pytest.raises(RuntimeError, match="already been set"):
        raw.register_hooks(lambda x: x, lambda x: x)
    b.sum().backward()
    assert a.grad.tolist() == [3.0, 6.0]
    with pytest.raises(RuntimeError, match="after it has been freed"):
        raw.register_hooks(lambda x: x, lambda x: x)
    with pytest.raises(RuntimeError, match="None is forbidden"):
        (a * 2).grad_fn._raw_saved_self.register_hooks(lambda x: x, lambda x: x)
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        (a * a).grad_fn._raw_saved_self.register_hooks(lambda x: x.mul_(2), lambda x: x)


def test_backward_starts_and_ends_at_edges():
    a = leaf(1.0, 2.0)
    b = a * 3
    c = (b * b).sum()
    assert torch.autograd.grad(c, get_gradient_edge(b), retain_graph=True)[0].equal(2 * b)
    assert torch.autograd.grad(c, [GradientEdge(b.grad_fn, 0), a], retain_graph=True)[1].equal(6 * b)
    assert torch.autograd.grad(get_gradient_edge(c), a, retain_graph=True)[0].equal(6 * b)
    c.backward(inputs=[get_gradient_edge(a)])
    assert a.grad.equal(6 * b)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        torch.autograd.grad(leaf(1.0) * 2, get_gradient_edge(a * 2), materialize_grads=True)
    with pytest.raises(IndexError, match="has 1 results, got output_nr 4"):
        torch.autograd.grad(b.sum(), GradientEdge(b.grad_fn, 4))
    with pytest.raises(TypeError, match="expected a Tensor or a GradientEdge, got int"):
        torch.autograd.grad([b.sum()], [3])


def test_inputs_of_backward_run_their_own_nodes():
    a = leaf(2.0)
    b = a * 2
    seen = []
    b.grad_fn.register_hook(lambda found, grads: seen.append(len(found)))
    (b * 3).backward(inputs=[b])
    assert b.grad.item() == 3 and a.grad is None and len(seen) == 1


def test_hooks_of_what_is_not_wanted_do_not_run():
    def refuse(*_):
        raise AssertionError("not wanted")
    a, b = leaf(1.0), leaf(1.0)
    a.register_hook(refuse)
    c = a.clone()
    c.grad_fn.next_functions[0][0].register_hook(refuse)
    (b + c).backward(inputs=[b])
    assert b.grad.item() == 1 and a.grad is None


def test_leaves_give_hooks_what_became_the_gradient():
    a = leaf(1.0)
    end = a.view_as(a).grad_fn.next_functions[0][0]
    a.register_hook(lambda g: g - 2)
    end.register_prehook(lambda grads: (grads[0] / 5,))
    a.register_post_accumulate_grad_hook(lambda t: t.grad.add_(0.5) and None)
    end.register_hook(lambda found, grads: setattr(a, "grad", grads[0] * 10))
    a.sum().backward()
    assert abs(a.grad.item() - 3) < 1e-6
    b = leaf(1.0)
    b.register_post_accumulate_grad_hook(lambda t: t.grad)
    with pytest.raises(RuntimeError, match="hooks should return None"):
        b.sum().backward()


def test_hooks_get_none_where_no_gradient_flows():
    seen = []
    first, second = leaf(1.0, 2.0).unbind()
    first.register_hook(lambda g: seen.append(g))
    second.backward()
    assert seen == [None]


def test_the_engine_tells_what_runs():
    a, other = leaf(1.0), leaf(1.0)
    b = a.clone()
    c = b * other
    said = []

    def hook(_):
        said.append((_torch_c._current_graph_task_id(), torch._C._will_engine_execute_node(b.grad_fn),
                     [node.name() for node in torch._C._current_graph_task_execution_order()], torch._C._current_autograd_node()))
    c.register_hook(hook)
    with pytest.raises(RuntimeError, match="with multithreading disabled"):
        torch.autograd.grad(c, b, retain_graph=True)
    said.clear()
    with torch.autograd.set_multithreading_enabled(False):
        torch.autograd.grad(c, b, retain_graph=True)
        c.backward()
    (first, runs, order, node), (second, runs_too, whole, _) = said
    assert second == first + 1 and _torch_c._current_graph_task_id() == -1 and node is c.grad_fn
    assert (runs, order) == (False, ["MulBackward0", "CloneBackward0"])
    assert runs_too and sorted(whole) == ["CloneBackward0", "MulBackward0"] + ["torch::autograd::AccumulateGrad"] * 2
    with pytest.raises(RuntimeError, match="during the backward pass"):
        torch._C._will_engine_execute_node(b.grad_fn)
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got"):
        torch._C._will_engine_execute_node(b)


def test_callbacks_run_when_backward_is_over():
    log = []
    a = leaf(1.0)
    b = a.clone()
    queue = torch.autograd.Variable._execution_engine.queue_callback
    b.register_hook(lambda _: queue(lambda: log.append(a.grad.item())))
    b.backward()
    assert log == [1.0]
    log.clear()
    c = a.clone()
    c.register_hook(lambda _: queue(lambda: queue(lambda: log.append("then"))))
    c.backward()
    assert log == ["then"]
    with pytest.raises(RuntimeError, match="no backward is under way"):
        queue(print)


def test_multithreading_is_a_switch_and_a_scope():
    with torch.autograd.set_multithreading_enabled(False):
        assert not torch.autograd.is_multithreading_enabled()
    assert torch.autograd.is_multithreading_enabled()


def test_anomaly_mode_says_where_the_op_was_called():
    def call_it(x):
        return x ** 2
    with pytest.raises(RuntimeError, match="modified by an inplace"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            a = torch.rand(3, requires_grad=True)
            b = a + 1
            c = call_it(b)
            b += 1
            c.sum().backward()
    assert "Error detected in PowBackward0" in str(said[1].message) and "call_it" in str(said[1].message)
    d = leaf(-1.0).sqrt()
    with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            d.sum().backward()
    assert "No forward pass information" in str(said[1].message) and "traceback_" not in d.grad_fn.metadata


def test_complex_powers_of_negative_numbers():
    exponent = torch.tensor([0.5 + 1j, -1 - 0.5j], dtype=torch.complex128, requires_grad=True)
    for base in (-torch.ones(2, dtype=torch.float64), -2):
        assert torch.autograd.gradcheck(lambda e, base=base: torch.pow(base, e), (exponent,))


def test_products_of_zeros_that_meet_have_no_second_derivative():
    x, src = torch.ones(1, dtype=torch.float64, requires_grad=True), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 0])
    found, = torch.autograd.grad(torch.scatter_reduce(x, 0, index, src, "prod").sum(), src, create_graph=True)
    assert found.tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="Double backward is unsupported for src"):
        found.sum().backward()


@pytest.mark.parametrize("split", [lambda b: b.unbind(), lambda b: b.split(1), lambda b: b.chunk(2)])
def test_one_of_several_views_is_not_written_where_that_would_be_recorded(split):
    b = torch.rand(2, 3, requires_grad=True).clone()
    x, y = split(b)
    with pytest.raises(RuntimeError, match="Output 0 of .*Backward0 is a view .* function that returns multiple views"):
        x.mul_(2)
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        x[:1].mul_(2)  # a view of such a view
    with torch.no_grad():
        y.mul_(2)
    plain = torch.ones(2, 3)
    split(plain)[1].mul_(2)
    assert plain.tolist() == [[1] * 3, [2] * 3]
    with pytest.raises(RuntimeError, match="function that returns multiple views"):
        split(plain)[0].copy_(b[:1].reshape(split(plain)[0].shape))


def test_pieces_of_unsafe_functions_may_be_written():
    for split in (lambda b: torch.unsafe_split(b, 1), lambda b: torch.unsafe_chunk(b, 2), lambda b: b.tensor_split(2)):
        b = torch.ones(2, 3, requires_grad=True).clone()
        x, y = split(b)
        x.mul_(2)
        assert x.tolist() == [[2, 2, 2]] and x.requires_grad


def test_a_view_that_was_not_recorded_and_written_since():
    a = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        b = a[:1]
        b *= 2
        pieces = a.unbind()
    assert repr(b) == "tensor([2.], grad_fn=<Invalid>)" and pieces[0].grad_fn is None
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        b.grad_fn  # noqa: B018
    with torch.no_grad():
        y = torch.zeros(2).view(2)
    z = y.requires_grad_().view(2)
    with pytest.raises(RuntimeError, match="a view of a view .* is being .* inside the no_grad block"):
        z /= 2


def test_gradients_pass_through_as_strided_in_place():
    x = torch.arange(6.).reshape(2, 3).requires_grad_()
    y = x.clone()
    y.as_strided_((2, 2), (3, 1), 1)
    (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
    assert x.grad.tolist() == [[0, 1, 2], [0, 3, 4]] and y.tolist() == [[1, 2], [4, 5]] and y.storage_offset() == 1
    with torch.inference_mode():
        c = torch.ones(1, 2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        c.transpose_(0, 1)


def test_hooks_that_a_program_sets():
    seen, x = [], torch.ones(2, requires_grad=True)
    hooks = {"a": lambda g: seen.append(g.tolist())}
    x._backward_hooks = hooks
    assert x._backward_hooks is hooks
    (x * 2).sum().backward()
    assert seen == [[2, 2]]
    with pytest.raises(RuntimeError, match="cannot be deleted"):
        del x._backward_hooks
    y = torch.ones(2)
    y._backward_hooks = {"a": lambda g: 1 / 0}  # of a tensor without a gradient: never called
    (x + y).sum().backward()


def test_gradcheck_where_gradients_are_missing():
    def hooked(x):
        y = x.clone()
        y.register_hook(lambda g: g * 2 / 2)
        return y

    def careless(x):
        y = x.clone()

        def hook(g):
            if g is None:
                raise RuntimeError("None")
        y.register_hook(hook)
        return y
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    with pytest.warns(UserWarning, match="New undefined gradient support"), pytest.raises(RuntimeError, match="undefined output grads"):
        torch.autograd.gradcheck(careless, (x,))
    assert torch.autograd.gradcheck(careless, (x,), check_undefined_grad=False)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def jvp(ctx, x_t, y_t):
            ctx.set_materialize_grads(False)
            return x_t + y_t if bool((y_t != 0).any()) or bool((x_t == 0).all()) else x_t * (1 if y_t.numel() else 2)
    a, b = (torch.rand(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(Wrong.apply, (a, b), check_forward_ad=True)


def test_a_tangent_of_another_layout_is_copied():
    from argand.autograd import forward_ad
    with forward_ad.dual_level():
        whole, part = torch.ones(4), torch.ones(5)[:4].detach()
        assert forward_ad.unpack_dual(forward_ad.make_dual(torch.ones(4), whole)).tangent is whole
        given = torch.ones(4)
        found = forward_ad.unpack_dual(forward_ad.make_dual(part, given)).tangent
        found *= 2
        assert given.tolist() == [1] * 4


def test_looking_at_a_node_costs_no_copy_of_the_gradient():
    places = []
    a = torch.ones(8, requires_grad=True)
    b = a * 2
    assert b.grad_fn.next_functions[0][0].metadata == {}
    a.register_hook(lambda g: places.append(g.data_ptr()))
    b.backward(torch.ones(8))
    assert places == [a.grad.data_ptr()]


def test_grad_computes_only_what_is_asked_for():
    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True)

    def flops(*inputs):
        result = (x @ w).sum()
        with FlopCounterMode(display=False) as counter:
            torch.autograd.grad(result, inputs)
        return counter.get_total_flops()

    product = 2 * 3 * 4 * 5
    assert flops(x) == flops(w) == product and flops(x, w) == 2 * product


def test_a_backward_pass_within_a_limited_one_computes_everything():
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            p, q = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
            with torch.enable_grad():
                (p * q).sum().backward()
            seen.append((p.grad.tolist(), q.grad.tolist()))
            return g * 2

    seen = []
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (got,) = torch.autograd.grad((Inner.apply(a) * b).sum(), a)
    assert seen == [([3, 3], [1, 1])] and got.tolist() == [2, 2]
