"""FakeTensorMode, which finds out sizes without elements, and make_fx(), which keeps the ops that a function called."""
import io
import pickle

import argand as torch
import pytest
from argand import nn
from argand._torch._subclasses.fake_tensor import (DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorMode, is_fake,
                                            maybe_get_fake_mode, unset_fake_temporarily)
from argand.fx.experimental.proxy_tensor import get_proxy_mode, make_fx


def network():
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 5))


def test_a_network_without_elements():
    real = network()
    expected = real(torch.randn(2, 3, 8, 8))
    expected.sum().backward()
    with FakeTensorMode() as mode:
        model = network()
        x = torch.randn(2, 3, 8, 8)
        out = model(x)
        assert type(x) is type(out) is FakeTensor and out.fake_mode is mode and x.device.type == "cpu"
        assert out.shape == expected.shape and out.stride() == expected.stride() and out.dtype == expected.dtype and out.requires_grad
        out.sum().backward()
        assert [p.grad.shape for p in model.parameters()] == [p.grad.shape for p in real.parameters()]
        assert all(is_fake(p) and is_fake(p.grad) and isinstance(p, nn.Parameter) for p in model.parameters())
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        with pytest.raises(DataDependentOutputException):
            out[0, 0].item()
        with pytest.raises(DynamicOutputShapeException):
            torch.nonzero(x)
        with unset_fake_temporarily():
            assert type(torch.ones(1)) is torch.Tensor
        assert maybe_get_fake_mode(None) is mode
    assert maybe_get_fake_mode(None) is None
    assert repr(x) == "FakeTensor(..., size=(2, 3, 8, 8))"


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file


def test_tensors_that_are_made_of_elements(tmp_path):
    numpy = pytest.importorskip("numpy")
    array, base = numpy.ones((2, 3), dtype=numpy.float32), torch.ones(2, 3)
    path, pickled = tmp_path / "some.pt", pickle.dumps(base)
    state = {"a": base, "nest": [base, (base.t(), nn.Parameter(base))], "n": 3}
    torch.save(state, path)
    files = {True: saved(state), False: saved(state)}
    for made in (lambda: torch.tensor([[1.0, 2, 3], [4, 5, 6]]), lambda: torch.tensor(array), lambda: torch.as_tensor(array),
                 lambda: torch.asarray(array), lambda: torch.from_numpy(array), lambda: torch.Tensor([[1.0, 2, 3], [4, 5, 6]]),
                 lambda: torch.Tensor(2, 3), lambda: torch.FloatTensor([[1.0, 2, 3], [4, 5, 6]]), lambda: base.new_tensor(array),
                 lambda: torch.tensor([array[0], array[1]]), lambda: pickle.loads(pickled), lambda: torch.load(path)["a"],
                 lambda: torch.zeros(4, 3)[[0, 1]]):
        with FakeTensorMode():
            x = made()
            assert (type(x), x.shape, x.dtype, x.device.type) == (FakeTensor, (2, 3), torch.float32, "cpu")
            assert (x + 1).shape == (2, 3)
    for weights_only, file in files.items():
        file.seek(0)
        with FakeTensorMode():
            loaded = torch.load(file, weights_only=weights_only)
            first, (turned, parameter) = loaded["nest"]
            assert loaded["n"] == 3 and all(is_fake(t) for t in (loaded["a"], first, turned, parameter))
            assert turned.shape == (3, 2) and turned.stride() == (1, 3) and isinstance(parameter, nn.Parameter) and parameter.requires_grad
    with FakeTensorMode():
        assert type(torch.frombuffer(bytearray(8), dtype=torch.float32)) is torch.Tensor  # as in PyTorch


def test_elements_are_assigned_within_modes():
    with FakeTensorMode():
        x = torch.zeros(3, 3)
        x[0] = 1
        x[0, 1] = 2.5
        x[[1, 2]] = 3
        x[x > 0] = 4
        x[0] = [1.0, 2.0, 3.0]
        assert type(x) is FakeTensor
    traced = make_fx(lambda x: x.clone().index_put_((torch.tensor([0]),), torch.tensor(1.0)))(torch.zeros(2))
    assert traced(torch.zeros(2)).tolist() == [1, 0]

    def assign(x):
        x = x.clone()
        x[0] = 7
        x[1:, 0] = True
        x[[2], [2]] = 5
        return x
    right = torch.zeros(3, 3)
    right[0, :], right[1:, 0], right[2, 2] = 7, 1, 5
    assert torch.equal(make_fx(assign)(torch.zeros(3, 3))(torch.zeros(3, 3)), right)


def test_devices_and_conversions():
    with FakeTensorMode() as mode:
        x = torch.zeros(2, device="cuda")
        assert str(x.device) == "cuda:0" and str((x + 1).device) == "cuda:0" and x.cpu().device.type == "cpu"
        with pytest.raises(RuntimeError, match="Device Propagation"):
            x + torch.zeros(2)
        assert str((x + torch.tensor(1.0)).device) == "cuda:0"
    r = torch.ones(2, 3)
    f = mode.from_tensor(r)
    assert mode.from_tensor(r) is f and (f + 1).shape == (2, 3) and type(f + 1) is FakeTensor
    assert mode.from_tensor(nn.Parameter(torch.ones(2))).requires_grad
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"), mode:
        r + f
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert type(r + 1) is FakeTensor
    with mode:
        y = torch.ones(4)
        v = y.view(2, 2)
        assert y.add_(1) is y and v._base is y and v.untyped_storage() == y.untyped_storage()


def lines(module):
    return [line.strip().partition(";")[0] for line in module.code.strip().splitlines()]


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_trace_and_its_gradient(mode):
    def f(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((x.sin() * x).sum(), x)[0]
    traced = make_fx(f, tracing_mode=mode)(torch.randn(3))
    assert lines(traced)[:4] == ["def forward(self, x_1):", "detach = torch.ops.aten.detach.default(x_1)",
                                 "sin = torch.ops.aten.sin.default(detach)", "mul = torch.ops.aten.mul.Tensor(sin, detach)"]
    for x in (torch.randn(3), torch.randn(3)):
        assert torch.allclose(traced(x), x.cos() * x + x.sin())
    assert get_proxy_mode() is None


def test_a_trace_with_results_writes_and_constants():
    layer = nn.Linear(3, 2)

    def f(x, y):
        z = (x * y + 1).relu()
        values, _ = z.max(1)
        z.add_(x)
        return values + torch.ones(2).sum(), {"layer": layer(z) + torch.tensor([1.0, 2])}
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    traced = make_fx(f)(x, y)
    assert lines(traced) == [
        "def forward(self, x_1, y_1):",
        "mul = torch.ops.aten.mul.Tensor(x_1, y_1)", "add = torch.ops.aten.add.Tensor(mul, 1)", "relu = torch.ops.aten.relu.default(add)",
        "max_1 = torch.ops.aten.max.dim(relu, 1)", "getitem = max_1[0]", "getitem_1 = max_1[1]", "add_ = torch.ops.aten.add_.Tensor(relu, x_1)",
        "ones = torch.ops.aten.ones.default([2], device = device(type='cpu'), pin_memory = False)",
        "sum_1 = torch.ops.aten.sum.default(ones)", "add_1 = torch.ops.aten.add.Tensor(getitem, sum_1)",
        "_param_constant0 = self._param_constant0", "t = torch.ops.aten.t.default(_param_constant0)",
        "_param_constant1 = self._param_constant1", "addmm = torch.ops.aten.addmm.default(_param_constant1, add_, t)",
        "_tensor_constant0 = self._tensor_constant0", "lift_fresh_copy = torch.ops.aten.lift_fresh_copy.default(_tensor_constant0)",
        "add_2 = torch.ops.aten.add.Tensor(addmm, lift_fresh_copy)", "return (add_1, {'layer': add_2})"]
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    got, expected = traced(x, y), f(x, y)
    assert torch.equal(got[0], expected[0]) and torch.equal(got[1]["layer"], expected[1]["layer"])
    assert len(list(traced.parameters())) == 2


def test_refusals_and_decompositions():
    with pytest.raises(NotImplementedError, match="tracing_mode"):
        make_fx(torch.sin, tracing_mode="symbolic")
    with pytest.raises(RuntimeError, match="get value out of a tracing tensor"):
        make_fx(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))
    traced = make_fx(lambda x: x.exp(), decomposition_table={torch.ops.aten.exp.default: lambda x: x.sin() + 1})(torch.ones(2))
    assert lines(traced)[1:3] == ["sin = torch.ops.aten.sin.default(x_1)", "add = torch.ops.aten.add.Tensor(sin, 1)"]


def test_wrappers_are_made_of_their_parts():
    from test_python_dispatch import Two
    with FakeTensorMode() as mode:
        pair = mode.from_tensor(Two(torch.ones(2), torch.ones(2)))
        assert type(pair) is Two and type(pair.a) is FakeTensor and type((pair + 1).b) is FakeTensor

    def f(a, b, y):
        out = Two(a, b) * y
        return out.a, out.b
    traced = make_fx(f)(torch.ones(4), torch.ones(4), torch.ones(4))
    assert lines(traced) == ["def forward(self, a_1, b_1, y_1):", "mul = torch.ops.aten.mul.Tensor(a_1, y_1)",
                             "mul_1 = torch.ops.aten.mul.Tensor(b_1, y_1)", "return (mul, mul_1)"]


def test_sizes_that_are_changed_in_place():
    with FakeTensorMode():
        x = torch.ones(5, 3)
        assert x.t_() is x and x.shape == (3, 5) and x.stride() == (1, 3) and (x + 1).shape == (3, 5)
        y = torch.ones(4, 2)[1:]
        y.unsqueeze_(-1)
        assert y.shape == (3, 2, 1) and y.storage_offset() == 2
        p = torch.ones(4, 2, requires_grad=True)
        q = p * 2
        q.unsqueeze_(0)
        (q.exp() * 2).sum().backward()
        assert q.shape == (1, 4, 2) and p.grad.shape == (4, 2)


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_trace_of_nests(mode):
    def f(x, params):
        return {"sum": x + params["w"], "list": [params["b"].sin(), 3]}
    args = torch.ones(2), {"w": torch.ones(2), "b": torch.zeros(2)}
    traced = make_fx(f, tracing_mode=mode)(*args)
    assert lines(traced) == [
        "def forward(self, x, params):", "x_1, params_1, params_2, = fx_pytree.tree_flatten_spec([x, params], self._in_spec)",
        "add = torch.ops.aten.add.Tensor(x_1, params_1)", "sin = torch.ops.aten.sin.default(params_2)",
        "return pytree.tree_unflatten([add, sin, 3], self._out_spec)"]
    got = traced(*args)
    assert got["sum"].tolist() == [2, 2] and got["list"][0].tolist() == [0, 0] and got["list"][1] == 3


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_trace_of_backward(mode):
    def f(x, layer):
        x.sin().sum().backward()
        layer["w"].t().matmul(x).sum().backward()
        return x.grad, layer["w"].grad
    def inputs():
        return torch.randn(3, requires_grad=True), {"w": torch.randn(3, 2, requires_grad=True)}
    traced = make_fx(f, tracing_mode=mode)(*inputs())
    args, again = inputs(), inputs()
    with torch.no_grad():
        for a, b in ((args[0], again[0]), (args[1]["w"], again[1]["w"])):
            b.copy_(a)
    assert all(map(torch.equal, traced(*args), f(*again)))
    assert not list(traced.buffers())


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_a_trace_knows_elements_of_what_it_makes_of_numbers(mode):
    def f(x):
        a = torch.tensor([2.0])
        part, = a.unbind()
        a.add_(1)
        return x * part.item() + torch.full((2,), torch.tensor(4)) + a
    traced = make_fx(f, tracing_mode=mode)(torch.ones(2))
    assert traced(torch.ones(2)).tolist() == traced(torch.ones(2)).tolist() == [10, 10]

    def drawn(x):
        a = torch.tensor([2.0])
        a.normal_()
        return x * a.item()

    def written(x):
        a = torch.tensor(2.0)
        a.add_(x)
        return a.item()

    def large(x):
        return x * torch.tensor([2.0]).repeat(3).sum().item()
    for g in drawn, written, large:
        with pytest.raises(RuntimeError, match="data-dependent"):
            make_fx(g, tracing_mode=mode)(torch.ones(()))
    traced = make_fx(lambda x: x * x.item(), _error_on_data_dependent_ops=False)(torch.tensor(2.0))
    assert traced(torch.tensor(3.0)).item() == 6.0


@pytest.mark.parametrize("mode", ["real", "fake"])
def test_nodes_tell_what_they_give(mode):
    def f(x):
        y = x.clone()
        y.unsqueeze_(0)
        return torch.var_mean(y, 1)
    nodes = {n.name: n.meta for n in make_fx(f, tracing_mode=mode)(torch.ones(3)).graph.nodes}
    assert type(nodes["clone"]["val"]) is FakeTensor and nodes["clone"]["val"].shape == (3,)
    assert [v.shape for v in nodes["var_mean"]["val"]] == [(1,), (1,)] and nodes["getitem"]["val"].shape == (1,)
    assert nodes["x_1"]["tensor_meta"].dtype is torch.float32 and nodes["x_1"]["tensor_meta"].stride == (1,)


def test_what_traces_refuse():
    outside = torch.ones(2)
    with pytest.raises(AssertionError, match="Please convert all Tensors"):
        make_fx(lambda x: x + outside, tracing_mode="fake")(torch.ones(2))
    assert make_fx(lambda x: x + outside, tracing_mode="fake", _allow_non_fake_inputs=True)(torch.ones(2))(outside).tolist() == [2, 2]
    for option in "pre_dispatch", "record_module_stack":
        with pytest.raises(NotImplementedError, match=option):
            make_fx(torch.sin, **{option: True})
    with pytest.raises(RuntimeError, match="aten.allclose.default"):
        make_fx(torch.allclose)(outside, outside)
