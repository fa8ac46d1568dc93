"""Backward, gradients, hooks, Functions and the switches of recording."""
import gc
import math
import threading
import warnings
import weakref

import argand as torch
import pytest


def test_backward_and_grad():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 7]
    x.grad = None
    y = x**3
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [3, 12] and h.tolist() == [6, 12] and x.grad is None
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [3, 12]


def test_a_parameter_changes_while_a_graph_of_it_is_there():
    """The graph that is made then takes gradients of what it is, not of what it was."""
    layer, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    kept = layer(x).sum()
    layer.double()
    layer(x.double()).sum().backward()
    assert layer.weight.grad.dtype == torch.float64 and torch.equal(layer.weight.grad[0], x.double().sum(0))
    layer.bias.grad = None
    layer.bias.data = torch.zeros(1, dtype=torch.float64)
    (layer.bias * 2).sum().backward()
    assert layer.bias.grad.tolist() == [2] and kept.requires_grad


@pytest.mark.parametrize("function, exact", [
    (lambda x: torch.lerp(x, x.detach(), 0.3), 0.7),
    (lambda x: torch.pow(1.3, x), 1.3**0.7 * math.log(1.3)),
    (lambda x: torch.ldexp(torch.tensor(0.4, dtype=torch.float64), x), 0.4 * 2**0.7 * math.log(2)),
    (lambda x: (x * (0.1 + 0.3j)).imag, 0.3),
    (lambda x: (x / (0.1 + 0.3j)).imag, -3.0),
])
def test_numbers_are_as_exact_as_the_gradient(function, exact):
    """A number beside a float64 tensor is not rounded to float32 on the way back."""
    x = torch.tensor([0.7], dtype=torch.float64, requires_grad=True)
    function(x).sum().backward()
    assert x.grad.dtype == torch.float64 and x.grad.item() == pytest.approx(exact, rel=1e-15)
    y = torch.tensor([0.7], requires_grad=True)
    function(y).sum().backward()
    assert y.grad.dtype == torch.float32 and y.grad.item() == pytest.approx(exact, rel=1e-6)


def test_errors():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.ones(1).backward()
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * x).sum().backward(inputs=[])
    with pytest.raises(ValueError, match="assigned grad has data of a different size"):
        try:
            x.grad = torch.ones(3)
        except RuntimeError as error:
            raise ValueError(str(error)) from None


def test_unused_and_materialized():
    x, z = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    assert torch.autograd.grad((x * 2).sum(), [x, z], allow_unused=True)[1] is None
    assert torch.autograd.grad((x * 2).sum(), [x, z], materialize_grads=True)[1].tolist() == [0]
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        torch.autograd.grad((x * 2).sum(), [z])


def test_graph_is_seen():
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    assert y.grad_fn.name() == "SumBackward0" and y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    assert x.is_leaf and not y.is_leaf and x.grad_fn is None


def name_of(t):
    return type(t.grad_fn).__name__


def test_nodes_are_named_as_pytorchs():
    """What PyTorch 2.15 prints for the same expressions."""
    F = torch.nn.functional
    x, image = torch.ones(3, requires_grad=True), torch.ones(1, 1, 4, 4, requires_grad=True)
    weight, plain = torch.ones(2, 3, requires_grad=True), torch.ones(1, 3)
    for value, name in ((x + 2, "AddBackward0"), (x * 3, "MulBackward0"), (x - x, "SubBackward0"), (x / 2, "DivBackward0"), (-x, "NegBackward0"),
                        (x**2, "PowBackward0"), (x**x, "PowBackward1"), (x.prod(), "ProdBackward0"), (x.prod(0), "ProdBackward1"), (x.sin(), "SinBackward0"), (x.log1p(), "Log1PBackward0"), (x.deg2rad(), "Deg2RadBackward0"),
                        (x.sum(), "SumBackward0"), (x.sum(0), "SumBackward1"), (x.mean(), "MeanBackward0"), (x.mean(0), "MeanBackward1"),
                        (x.max(), "MaxBackward1"), (x.min(), "MinBackward1"), (x.max(0)[0], "MaxBackward0"), (x.view(3, 1), "ViewBackward0"),
                        (x[None], "UnsqueezeBackward0"), (x.exp(), "ExpBackward0"), (x.relu(), "ReluBackward0"), (x.clone(), "CloneBackward0"),
                        (torch.cat([x, x]), "CatBackward0"), (x.softmax(0), "SoftmaxBackward0"), (weight @ weight.T, "MmBackward0"),
                        (F.linear(plain, weight, torch.ones(2, requires_grad=True)), "AddmmBackward0"), (F.linear(plain, weight), "MmBackward0"),
                        (F.conv2d(image, torch.ones(1, 1, 2, 2)), "ConvolutionBackward0"), (F.avg_pool2d(image, 2), "AvgPool2DBackward0"),
                        (F.max_pool2d(image, 2), "MaxPool2DWithIndicesBackward0"), (F.nll_loss(weight, torch.tensor([0, 1])), "NllLossBackward0"),
                        (torch.fft.rfft(x), "FftR2CBackward0"), (torch.special.i0e(x), "SpecialI0EBackward0")):
        node = value.grad_fn
        assert type(node).__name__ == node.name() == name and isinstance(node, torch.autograd.graph.Node)
        assert f"<{name} object at 0x" in repr(node) and f"grad_fn=<{name}>" in repr(value)
        assert type(value.grad_fn) is type(node) and value.grad_fn == node and len({node, value.grad_fn}) == 1
    end = (x * 2).grad_fn.next_functions[0][0]
    assert type(end).__name__ == "AccumulateGrad" and end.name() == "torch::autograd::AccumulateGrad" and end.variable is x
    y = x.clone()
    y[:1].mul_(2)
    assert name_of(y) == "CopySlices" and y.grad_fn.name() == "torch::autograd::CopySlices" and "grad_fn=<CopySlices>" in repr(y)
    assert name_of(Cube.apply(x, 2)) == Cube.apply(x, 2).grad_fn.name() == "CubeBackward"


# One call of each kind of definition; tests/parity/node_names.py compares all ops, and lists what differs.
NODES = {
    "a form with a number": lambda x: ((1 - x, "RsubBackward1"), (2**x, "PowBackward2"), (2 / x, "MulBackward0"), (x.clamp(0, 1), "ClampBackward1"),
                                       (x.fmod(2), "FmodBackward0"), (x.copysign(1), "CopysignBackward1"), (x.xlogy(2), "XlogyBackward2")),
    "a form with a tensor": lambda x: ((x.fmod(x), "FmodBackward1"), (x % x, "RemainderBackward1"), (x.clamp(x, x), "ClampBackward0"),
                                       (x.lerp(x, x), "LerpBackward1"), (x.masked_fill(x > 2, x[0, 0]), "MaskedFillBackward1")),
    "a form by other arguments": lambda x: ((x.squeeze(0), "SqueezeBackward1"), (x.squeeze((0, 1)), "SqueezeBackward2"), (x.squeeze(), "SqueezeBackward0"),
                                            (x.median(0)[0], "MedianBackward1"), (x.round(decimals=1), "RoundBackward1"),
                                            (x.sort(stable=True)[0], "SortBackward1"), (x.div(2, rounding_mode="floor"), "DivBackward2")),
    "an op that others are made of": lambda x: (
        (x.trace(), "TraceBackward0"), (x.repeat(2, 1), "RepeatBackward0"), (x.tile(2), "RepeatBackward0"), (x.t(), "TBackward0"), (x[0].t(), "TBackward0"),
        (x[0].dot(x[1]), "DotBackward0"), (x @ x[0], "MvBackward0"), (x[0] @ x[1], "DotBackward0"), (torch.linalg.inv(x), "LinalgInvExBackward0"),
        (torch.nn.functional.glu(x), "GluBackward0"), (torch.nn.functional.pad(x, (1, 1)), "ConstantPadNdBackward0"), (x[0].diag(), "DiagEmbedBackward0"),
        (x.select_scatter(x[0], 0, 0), "SelectScatterBackward0"), (x.t().reshape(4), "UnsafeViewBackward0"), (torch.expand_copy(x, (2, 2, 2)), "ExpandBackward0_copy"),
        (x.unsafe_split(1)[0], "UnsafeSplitBackward0"), (torch.linalg.lu(x)[1], "LinalgLuBackward0"), (x.clone().zero_(), "ZeroBackward0")),
    "an op for all numbers of dimensions": lambda x: (
        (torch.nn.functional.interpolate(x[None, None], scale_factor=2), "UpsampleNearest2DBackward0"),
        (torch.nn.functional.adaptive_max_pool2d(x[None], 1), "AdaptiveMaxPool2DBackward0")),
    "an op of another name": lambda x: ((x.clone().copy_(x), "CopyBackwards"), (x.clone().fill_(1), "FillBackward2"),
                                        (torch.nn.functional.cross_entropy(x, torch.tensor([0, 1])), "NllLossBackward0"))}


@pytest.mark.parametrize("kind", NODES)
def test_nodes_of_each_kind_have_pytorchs_names(kind):
    for value, name in NODES[kind]((torch.eye(2) * 2 + 1).requires_grad_()):
        assert name_of(value) == value.grad_fn.name() == name and f"grad_fn=<{name}>" in repr(value)


def test_a_composite_names_only_its_own_node():
    """What is made before it, and what is handed through, keep their names."""
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    assert name_of(y.conj()) == name_of(y) == "MulBackward0"
    z = y.trace()
    assert name_of(z) == "TraceBackward0" and name_of(y) == "MulBackward0"
    with torch.no_grad():
        assert y.trace().grad_fn is None
    z.backward()
    assert x.grad.tolist() == [[2, 0], [0, 2]]


def test_pieces_have_one_gradient():
    x = torch.arange(12.).reshape(4, 3).requires_grad_()
    for pieces, name in ((x.split(2), "SplitBackward0"), (x.chunk(3, 1), "SplitBackward0"), (x.unbind(1), "UnbindBackward0"),
                         (x.split([1, 0, 3]), "SplitWithSizesBackward0")):
        assert {p.grad_fn.name() for p in pieces} == {name}
        (pieces[0] * 2).sum().backward(retain_graph=True)
        sum((p * p).sum() for p in pieces).backward()
        expected = 2 * x.detach()
        one = torch.zeros(4, 3)
        if name == "SplitWithSizesBackward0":
            one[:1] = 2
        elif name == "UnbindBackward0":
            one[:, 0] = 2
        elif len(pieces) == 2:
            one[:2] = 2
        else:
            one[:, :1] = 2
        assert x.grad.equal(expected + one)
        x.grad = None


def test_hooks():
    x = torch.ones(2, requires_grad=True)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (x * 2).sum().backward()
    assert seen == [[2, 2]] and x.grad.tolist() == [20, 20]
    handle.remove()
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [22, 22]
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_a_hook_that_raises():
    class Mine(Exception):
        pass

    def hook(_):
        raise Mine("here")
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    with pytest.raises(Mine, match="here"):
        (x * 2).sum().backward()


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return scale * x**3

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return 3 * ctx.scale * x * x * grad, None


def test_function():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x, 2)
    assert y.tolist() == [2, 16] and y.grad_fn.name() == "CubeBackward"
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [6, 24] and torch.autograd.grad(g.sum(), x)[0].tolist() == [12, 24]
    d = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t: Cube.apply(t, 3), (d,))
    assert torch.autograd.gradgradcheck(lambda t: Cube.apply(t, 3), (d,))


def test_function_with_setup_context_and_several_results():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a * b, a + b, "text"

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g1, g2, _=None):
            a, b = ctx.saved_tensors
            return g1 * b + g2, g1 * a + g2
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    product, total, text = Both.apply(a, b)
    (product + total).backward()
    assert text == "text" and a.grad.item() == 4 and b.grad.item() == 3


def test_wrong_functions():
    class Short(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g
    a = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="Short"):
        Short.apply(a, a).backward()

    class Text(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return "gradient"
    with pytest.raises(TypeError, match="expected a Tensor or None"):
        Text.apply(a).backward()


class AddInto(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        a[1:2] += b
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, g):
        return g, g[1:2].clone()


def test_function_that_changes_its_argument():
    a, b = torch.ones(2, requires_grad=True), torch.full((1,), 4.0, requires_grad=True)
    inner = a + 1
    c = AddInto.apply(inner, b)
    assert c is inner and c.tolist() == [2, 6]
    (c * torch.tensor([3.0, 5.0])).sum().backward()
    assert a.grad.tolist() == [3, 5] and b.grad.tolist() == [5]
    plain = torch.zeros(2)
    assert AddInto.apply(plain, torch.ones(1)) is plain and plain.tolist() == [0, 1]
    a.grad = b.grad = None
    base = torch.ones(2, 2) * a
    AddInto.apply(base[1], b)
    (base * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert a.grad.tolist() == [4, 6] and b.grad.tolist() == [4]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        AddInto.apply(torch.ones(2, requires_grad=True), b)


def test_the_op_that_changed_a_saved_tensor_is_named_when_it_is_long_gone():
    """The name of a Function is made at run time: the storage must not point into a text that is freed."""
    x = torch.zeros(2, requires_grad=True)
    saved = []
    for i in range(50):
        name = f"Writes{i}" + "x" * i
        function = type(name, (AddInto,), {})
        e = x.exp()
        function.apply(e, torch.ones(1))
        saved.append((e, name))
        del function
    gc.collect()
    for e, name in saved:
        with pytest.raises(RuntimeError, match=f"has been modified by an inplace operation.*The op that changed it last is '{name}Backward'"):
            e.sum().backward()


def test_gradient_of_a_complex_number_is_not_implied():
    z = torch.ones(2, requires_grad=True) * (1 + 2j)
    for run in (z.sum().backward, lambda: torch.autograd.grad(z.sum(), z)):
        with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs but got .*complex64"):
            run()
    assert torch.autograd.grad(z.sum(), z, torch.tensor(1j))[0].tolist() == [1j, 1j]


def test_gradcheck_finds_a_wrong_gradient():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3
    x = torch.rand(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError):
        torch.autograd.gradcheck(Wrong.apply, (x,))
    assert torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False) is False


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


def slope(make):
    """x * 2, with what backward makes of the gradient."""
    return type("Slope", (Slope,), {"backward": staticmethod(lambda ctx, g: make(g))}).apply


def test_gradcheck_looks_at_what_it_is_told():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    calls, check = [], torch.autograd.gradcheck

    def wavers(g):
        calls.append(1)
        return g * (2 + 1e-8 * len(calls))
    for options in ({}, {"fast_mode": True}):
        with pytest.raises(RuntimeError, match="Backward is not reentrant.*tolerance for nondeterminism was 0.0"):
            check(slope(wavers), (x,), **options)
    assert check(slope(wavers), (x,), nondet_tol=1e-5) and check(slope(wavers), (x,), raise_exception=False) is False

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            if a is None:
                return b * 3 + (b.abs().max() == 0)  # right only where there is something
            return a * 2 if b is None else a * 2 + b * 3
    with pytest.raises(RuntimeError, match="undefined or zero"):
        check(Two.apply, (x,))
    assert check(Two.apply, (x,), check_undefined_grad=False)
    z = torch.rand(2, dtype=torch.complex128, requires_grad=True)
    for fast in (False, True):
        assert check(lambda a, b: (a.sin() * a.sum(), b * b.conj()), (x, z), check_forward_ad=True, check_batched_forward_grad=True,
                     check_batched_grad=True, check_grad_dtypes=True, fast_mode=fast)

    class WrongTangent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3
    assert check(WrongTangent.apply, (x,))
    for options in ({"check_backward_ad": False}, {}):
        with pytest.raises(RuntimeError, match="mismatch"):
            check(WrongTangent.apply, (x,), check_forward_ad=True, **options)
    for wrong in ({"check_backward_ad": False}, {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
                  {"check_batched_forward_grad": True}):
        with pytest.raises(AssertionError, match="to be True"):
            check(torch.sin, (x,), **wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        check(torch.sin, (x,), foo=1)


def test_gradgradcheck_takes_grad_outputs():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    check, seen = torch.autograd.gradgradcheck, []

    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            seen.append((g.tolist(), g.is_contiguous()))
            return g * ctx.saved_tensors[0].cos()

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.saved_tensors[0].cos()
    given = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    assert check(Sine.apply, (x,), grad_outputs=given) and seen[0][0] == [1, 2, 3]
    assert check(lambda a: (a.sin(), a * a), (x,), grad_outputs=[given, (given * 2).detach()])
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        check(lambda a: (a.sin(), a * a), (x,), grad_outputs=[given])
    del seen[:]
    assert check(Sine.apply, (x,), gen_non_contig_grad_outputs=True) and not seen[0][1]
    assert check(Sine.apply, (x,), check_fwd_over_rev=True) and check(lambda a: a.exp(), (x,), check_fwd_over_rev=True, check_rev_over_rev=False)
    assert check(lambda a: a.detach(), (x,)) and check(torch.sin, (x,), fast_mode=True)
    with pytest.raises(AssertionError, match="check_fwd_over_rev or check_rev_over_rev"):
        check(torch.sin, (x,), check_rev_over_rev=False)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0].detach()**2
    assert torch.autograd.gradcheck(Wrong.apply, (x,))
    with pytest.raises(RuntimeError):
        check(Wrong.apply, (x,))
    assert check(Wrong.apply, (x,), raise_exception=False) is False


def test_switches():
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert (x * 2).requires_grad

    @torch.no_grad()
    def f():
        return torch.is_grad_enabled()

    @torch.no_grad
    def g():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()
    assert f() is False and list(g()) == [False, False] and torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.inference_mode():
        y = x * 2
    assert y.is_inference() and torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    with pytest.raises(RuntimeError):
        (x * y).sum().backward()


def test_anomaly():
    x = torch.tensor([-1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
                x.sqrt().sum().backward()
    x.sqrt().sum().backward()
    assert x.grad.isnan().all()


def test_graphs_go_with_their_last_tensor():
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    x = torch.ones(1, requires_grad=True)
    z = x * 1
    ref = weakref.ref(z)
    y = Keep.apply(z)
    del z
    y.sum().backward()
    del y
    gc.collect()
    assert ref() is None


def test_threads():
    results = []

    def work(k):
        x = torch.full((100,), float(k), requires_grad=True)
        for _ in range(50):
            x.grad = None
            (Cube.apply(x, 1)).sum().backward()
        results.append((k, x.grad[0].item()))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(results) == [(k, 3.0 * k * k) for k in range(1, 5)]


def test_arguments_that_pytorch_deprecates():
    x = torch.tensor([2.0], requires_grad=True)
    y = torch.tensor([3.0], requires_grad=True)
    # only_inputs stands before allow_unused.
    assert torch.autograd.grad((x * x).sum(), [x, y], None, None, False, True, True)[1] is None
    with pytest.warns(FutureWarning, match="only_inputs"):
        torch.autograd.grad((x * x).sum(), x, only_inputs=False)
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.autograd.backward([x * 2], grad_variables=[torch.tensor([5.0])])
    assert x.grad.tolist() == [10]


def test_hook_after_accumulation():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []

    def step(leaf):
        assert leaf is w
        seen.append(leaf.grad.tolist())
        with torch.no_grad():
            leaf -= 0.5 * leaf.grad
        leaf.grad = None
    handle = w.register_post_accumulate_grad_hook(step)
    (w * w).sum().backward()
    assert seen == [[2, 4]] and w.tolist() == [0, 0] and w.grad is None
    (w * 3).sum().backward(inputs=[w])
    assert seen == [[2, 4], [3, 3]]
    torch.autograd.grad((w * 3).sum(), w)  # puts nothing into .grad
    assert len(seen) == 2
    handle.remove()
    (w * 3).sum().backward()
    assert len(seen) == 2 and w.grad.tolist() == [3, 3]
    # It runs after the hooks that change the gradient, also those of a graph that is gone.
    v = torch.ones(1, requires_grad=True)
    v.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.item()))
    v.register_hook(lambda g: g * 10)
    for _ in range(2):
        v.sum().backward()
    assert seen[2:] == [10, 20]


def test_hook_after_accumulation_is_for_leaves():
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_post_accumulate_grad_hook(print)
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (torch.ones(1, requires_grad=True) * 2).register_post_accumulate_grad_hook(print)

    def fails(leaf):
        raise KeyError("mine")
    w = torch.ones(1, requires_grad=True)
    w.register_post_accumulate_grad_hook(fails)
    with pytest.raises(KeyError, match="mine"):
        w.sum().backward()


def test_a_graph_ends_at_variables():
    w = torch.nn.Parameter(torch.ones(2))
    node = (w * 2).grad_fn
    assert node.next_functions[0][0].variable is w
    with pytest.raises(AttributeError, match="'MulBackward0' object has no attribute 'variable'"):
        node.variable


def test_gradients_that_are_made_zero_are_part_of_a_graph_if_one_is_wanted():
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    for create_graph in (False, True):
        found = torch.autograd.grad((a * a).sum(), [a, b], materialize_grads=True, create_graph=create_graph)
        assert found[1].tolist() == [0, 0] and [g.requires_grad for g in found] == [create_graph] * 2
