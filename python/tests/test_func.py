"""torch.func and torch.autograd.functional."""
import subprocess
import sys

import argand as torch
import pytest
from argand import func
from argand._torch._C import _functorch
from argand.autograd import functional

A = torch.tensor([[1.0, 2.0, 0.5], [-1.0, 0.25, 3.0]])
X = torch.tensor([0.3, -0.7, 1.1])


def tanh_product(x):
    return torch.tanh(A @ x)


# The derivatives of tanh(A x) by x.
SLOPES = (1 - tanh_product(X) ** 2)[:, None] * A


def test_jacobian_and_its_products():
    torch.testing.assert_close(functional.jacobian(tanh_product, X), SLOPES)
    v, u = torch.tensor([1.0, 0.5, -2.0]), torch.tensor([0.5, 2.0])
    value, forward = functional.jvp(tanh_product, X, v)
    torch.testing.assert_close(value, tanh_product(X))
    torch.testing.assert_close(forward, SLOPES @ v)
    torch.testing.assert_close(functional.vjp(tanh_product, X, u)[1], u @ SLOPES)
    both = functional.jacobian(lambda a, b: (a * b, a.sum()), (X, X + 1))
    torch.testing.assert_close(both[0][1], torch.diag(X))
    assert both[1][1].tolist() == [0, 0, 0] and len(both) == 2
    with pytest.raises(RuntimeError, match="independent of input 1"):
        functional.jacobian(lambda a, b: a, (X, X), strict=True)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        functional.vjp(tanh_product, X, X)


def test_hessian_and_its_products():
    def cubes(x):
        return (x**3).sum() + x[0] * x[1]
    expected = torch.diag(6 * X)
    expected[0, 1] = expected[1, 0] = 1
    torch.testing.assert_close(functional.hessian(cubes, X), expected)
    v = torch.tensor([1.0, -1.0, 2.0])
    torch.testing.assert_close(functional.hvp(cubes, X, v)[1], expected @ v)
    torch.testing.assert_close(functional.vhp(cubes, X, v)[1], expected @ v)
    torch.testing.assert_close(func.hessian(cubes)(X), expected)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        functional.hessian(tanh_product, X)


def test_grad():
    torch.testing.assert_close(func.grad(lambda x: torch.sin(x).sum())(X), X.cos())
    torch.testing.assert_close(func.grad(func.grad(torch.sin))(X[0]), -X[0].sin())
    by_both = func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(X, X * 2)
    torch.testing.assert_close(by_both[0], X * 2)
    gradient, (value, extra) = func.grad_and_value(lambda x: ((x**2).sum(), {"extra": x}), has_aux=True)(X)
    torch.testing.assert_close(gradient, 2 * X)
    assert not extra["extra"].requires_grad and not value.requires_grad and not gradient.requires_grad
    nest = func.grad(lambda p: (p["w"] * p["b"]).sum())({"w": X, "b": X + 1})
    torch.testing.assert_close(nest["w"], X + 1)
    with pytest.raises(RuntimeError, match="return a scalar Tensor, got tensor with 1 dims"):
        func.grad(torch.sin)(X)
    value, multiply = func.vjp(tanh_product, X)
    torch.testing.assert_close(multiply(torch.ones(2))[0], SLOPES.sum(0))
    torch.testing.assert_close(func.jacrev(tanh_product)(X), SLOPES)
    torch.testing.assert_close(func.jvp(tanh_product, (X,), (X,))[1], SLOPES @ X)


def test_vmap():
    batch = torch.stack([X, X + 1, X - 1, X * 2])
    torch.testing.assert_close(torch.vmap(tanh_product)(batch), torch.tanh(batch @ A.t()))
    torch.testing.assert_close(func.vmap(torch.dot, in_dims=(0, 1))(batch, batch.t()), (batch * batch).sum(1))
    torch.testing.assert_close(func.vmap(lambda x, k: x * k, in_dims=(0, None), out_dims=1)(batch, 3), 3 * batch.t())
    torch.testing.assert_close(func.vmap(func.grad(lambda x: (x**2).sum()))(batch), 2 * batch)
    torch.testing.assert_close(func.vmap(func.vmap(lambda x: x * x))(batch), batch**2)
    first, second = func.vmap(lambda d: (d["x"].sum(), d["x"]))({"x": batch})
    assert first.shape == (4,) and second.shape == (4, 3)
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        func.vmap(torch.add)(batch, batch[:2])


def test_functional_call_of_several_models():
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    assert parameters["weight"].shape == (4, 2, 3) and buffers == {}
    out = func.vmap(lambda p: func.functional_call(models[0], p, (X,)))(parameters)
    torch.testing.assert_close(out, torch.stack([m(X) for m in models]))


class Pair:
    """Two tensors, as a package's container of tensors: vmap knows it by these methods."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    shape = property(lambda self: self.a.shape[:1])

    def _add_batch_dim(self, *, in_dim, vmap_level):
        return Pair(*(_functorch._add_batch_dim(t, in_dim, vmap_level) for t in (self.a, self.b)))

    def _maybe_remove_batch_dim(self, name, vmap_level, batch_size, out_dim):
        return Pair(*(_functorch._remove_batch_dim(t, vmap_level, batch_size, out_dim) for t in (self.a, self.b)))


def test_vmap_cuts_containers_of_tensors():
    pair = Pair(torch.arange(3.0), torch.arange(6.0).view(3, 2))
    out = torch.func.vmap(lambda p, x: p.a + p.b.sum() + x, in_dims=(0, None))(pair, torch.tensor(1.0))
    assert out.tolist() == [2, 7, 12]
    assert torch.func.vmap(lambda p: Pair(p.a + 1, p.b), out_dims=(0,))(pair).a.tolist() == [1, 2, 3]


def test_functorch_is_torch_func(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch, functorch\nfrom functorch import vmap, grad, FunctionalModule\n"
                      "import torch._functorch.vmap\nfrom torch._C._functorch import is_batchedtensor\n"
                      "from functorch.experimental import chunk_vmap\n"
                      "print(vmap(torch.sin)(torch.zeros(2)).tolist(), callable(torch.func.vmap), grad(torch.sin)(torch.tensor(0.0)).item(), is_batchedtensor(torch.ones(1)))\n"
                      "f, params = functorch.make_functional(torch.nn.Linear(1, 1))\n"
                      "print(type(f) is FunctionalModule, f.param_names, f(params, torch.ones(1, 1)).shape)\n")
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=120)
    assert out.stdout.splitlines() == ["[0.0, 0.0] True 1.0 False", "True ('weight', 'bias') torch.Size([1, 1])"], out.stderr
    assert "FutureWarning" in out.stderr and "Please use `torch.vmap` instead" in out.stderr


@pytest.mark.parametrize("call, message", [
    (lambda: func.grad(torch.sum, argnums=())(X), "argnums must be non-empty"),
    (lambda: func.grad(torch.sum, argnums=(0, -1))(X), "must be unique"),
    (lambda: func.grad(torch.sum, argnums=(0.0,))(X), "must be int"),
    (lambda: func.vjp(lambda x: None, X), "Expected f to be a function that has non-empty output"),
    (lambda: func.jacrev(lambda x: ())(X), "Expected f to be a function that has non-empty output"),
    (lambda: func.jvp(torch.sin, (), ()), "at least one Tensor"),
    (lambda: func.jvp(torch.sin, (X,), X), "same python structure"),
    (lambda: func.jvp(torch.sin, (1.0,), (X,)), "Expected primals to only contain Tensors"),
    (lambda: func.jvp(torch.sin, (X,), (1.0,)), "Expected tangents to only contain Tensors"),
    (lambda: func.stack_module_state([]), "Expected at least one model"),
    (lambda: func.stack_module_state([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()]), "same training/eval mode"),
    (lambda: func.stack_module_state([torch.nn.Linear(1, 1), torch.nn.ReLU()]), "models to be of the same class")])
def test_what_transforms_refuse(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


# ---- vmap as PyTorch's: what it refuses, where results stand, random numbers

BATCH = torch.arange(6.0).view(2, 3)


@pytest.mark.parametrize("call, message", [
    (lambda: torch.vmap(lambda a, k: a * k)(BATCH, 3), "Got in_dim=0 for an input but the input is of type <class 'int'>"),
    (lambda: torch.vmap(lambda a: a, in_dims=None)(BATCH), "expected `in_dims` to be int or a .* tuple .*got: <class 'NoneType'>"),
    (lambda: torch.vmap(lambda: X)(), "got no inputs"),
    (lambda: torch.vmap(lambda a: a, in_dims="a")(BATCH), "got: <class 'str'>"),
    (lambda: torch.vmap(lambda a: a, in_dims=(0, 0))(BATCH), "in_dims is not compatible with the structure of `inputs`"),
    (lambda: torch.vmap(lambda a: a, in_dims=2)(BATCH), "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2"),
    (lambda: torch.vmap(lambda a: a["x"], in_dims=({"y": 1},))({"x": BATCH}), "in_dims is not compatible"),
    (lambda: torch.vmap(lambda a, b: a, in_dims=(0, 1))(BATCH, BATCH), r"got sizes \[2, 3\] for the mapped dimension"),
    (lambda: torch.vmap(lambda a: 3)(BATCH), "must only return Tensors, got type <class 'int'>"),
    (lambda: torch.vmap(lambda a: a, out_dims=None)(BATCH), "can not return a BatchedTensor when out_dim is None"),
    (lambda: torch.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(BATCH), "out_dims is not compatible with the structure of `outputs`"),
    (lambda: torch.vmap(lambda a: a, chunk_size=0)(BATCH), r"chunk_size should be None or greater than 0. \(got 0\)")])
def test_what_vmap_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_where_vmap_cuts_and_joins():
    def rows(t):
        return t.tolist()
    assert rows(torch.vmap(lambda a: a["x"], in_dims=({"x": 1},))({"x": BATCH})) == rows(BATCH.t())
    assert rows(torch.vmap(lambda a: a, in_dims=-1, out_dims=-1)(BATCH)) == rows(BATCH)
    assert rows(torch.vmap(lambda a: a, out_dims=(1,))(BATCH)) == rows(BATCH.t())
    result = torch.vmap(lambda a: {"p": a, "q": a.sum()}, out_dims={"p": 1, "q": 0})(BATCH)
    assert rows(result["p"]) == rows(BATCH.t()) and rows(result["q"]) == [3, 12]
    first, (second, third) = torch.vmap(lambda a: (a, (a, a)), out_dims=(0, 1))(BATCH)
    assert rows(first) == rows(BATCH) and rows(second) == rows(third) == rows(BATCH.t())
    first, second = torch.vmap(lambda a: (a, X), out_dims=(0, None))(BATCH)
    assert rows(first) == rows(BATCH) and second is X
    assert torch.vmap(lambda a: a.sum())(torch.zeros(0, 3)).shape == (0,)
    assert torch.vmap(lambda a, b: a + b, in_dims=(0, None), chunk_size=1)(BATCH, X).shape == (2, 3)


# ---- gradients of functions of nests, under any mode

def test_jacobians_by_nests():
    x = torch.tensor([1.0, 2.0, 3.0])
    for jacobian in (func.jacrev, func.jacfwd):
        nest = jacobian(lambda p: {"o": p["w"] * p["b"].sum()})({"w": x, "b": x[:2]})
        assert nest["o"]["w"].tolist() == (3 * torch.eye(3)).tolist() and nest["o"]["b"].tolist() == [[1, 1], [2, 2], [3, 3]]
        both = jacobian(lambda a, b: a * b, argnums=(0, 1))(x, x)
        assert both[0].tolist() == both[1].tolist() == torch.diag(x).tolist()
        one, = jacobian(lambda a, b: a * b, argnums=(1,))(x, x)
        assert one.tolist() == torch.diag(x).tolist()
        square, aux = jacobian(lambda a: (a * a, a), has_aux=True)(x)
        assert square.tolist() == torch.diag(2 * x).tolist() and aux.tolist() == x.tolist() and not aux.requires_grad
        several = jacobian(lambda a: (a * a, a.sum()))(x)
        assert several[0].tolist() == torch.diag(2 * x).tolist() and several[1].tolist() == [1, 1, 1]
        assert jacobian(lambda a: x)(x).tolist() == torch.zeros(3, 3).tolist()
        assert jacobian(lambda a: a * torch.ones(0, 3))(x).shape == (0, 3, 3)
    second = func.hessian(lambda p: (p["w"]**2).sum() * p["b"].sum())({"w": x[:1], "b": x[:2]})
    assert second["w"]["w"].tolist() == [[6]] and second["w"]["b"].tolist() == [[2, 2]]
    assert second["b"]["w"].tolist() == [[2], [2]] and second["b"]["b"].tolist() == [[0, 0], [0, 0]]
    (aa, ab), (ba, bb) = func.hessian(lambda a, b: (a * b).sum()**2, argnums=(0, 1))(x[:1], x[:1])
    assert (aa.item(), ab.item(), ba.item(), bb.item()) == (2, 4, 4, 2)


def test_jacobians_by_parameters_of_a_module():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    x = torch.randn(4, 3)

    def f(p, v):
        return func.functional_call(model, p, (v.unsqueeze(0),)).squeeze(0)
    detached = {k: v.detach() for k, v in model.named_parameters()}
    for jacobian in (func.jacrev, func.jacfwd):
        j = jacobian(f)(detached, x[0])
        assert j["weight"].shape == (2, 2, 3) and j["weight"][0, 0].tolist() == x[0].tolist() and j["weight"][0, 1].tolist() == [0, 0, 0]
        assert j["bias"].tolist() == torch.eye(2).tolist() and not j["weight"].requires_grad
        batched = torch.vmap(jacobian(f), (None, 0))(detached, x)
        assert batched["weight"].shape == (4, 2, 2, 3) and batched["bias"].shape == (4, 2, 2)
        with torch.no_grad():
            j = jacobian(f)(dict(model.named_parameters()), x[0])
        assert j["weight"][1, 1].tolist() == x[0].tolist() and not j["weight"].requires_grad
    assert all(p.grad is None for p in model.parameters())


def test_what_keeps_a_history():
    """As in PyTorch: only what the program wants gradients of outside of the transform, while gradients are on there."""
    x, w = torch.tensor([1.0, 2.0, 3.0]), torch.nn.Parameter(torch.tensor(2.0))

    def f(a):
        return (a * a * w).sum()
    gradient, value = func.grad_and_value(f)(x)
    assert gradient.requires_grad and value.requires_grad
    assert torch.autograd.grad(gradient.sum(), w)[0].item() == 12 and w.grad is None
    with torch.no_grad():
        gradient, value = func.grad_and_value(f)(x.clone().requires_grad_())
    assert gradient.tolist() == [4, 8, 12] and not gradient.requires_grad and not value.requires_grad
    with torch.inference_mode():
        assert func.grad(lambda a: (a * a).sum())(x * 1).tolist() == [2, 4, 6]
    plain = func.grad(lambda a: (a * a).sum())(x)
    assert not plain.requires_grad and func.grad(lambda a: (a * a).sum())(x.clone().requires_grad_()).requires_grad
    # A transform within another one that differentiates by what the inner one closes over.
    outer = func.grad(lambda v: func.grad(lambda a: (a * a * v).sum())(x).sum())(w.detach())
    assert outer.item() == 12 and not outer.requires_grad
    mixed = func.grad(lambda v: func.grad(lambda a: (a * a * v).sum())(x).sum() * w)(torch.tensor(3.0))
    assert mixed.requires_grad and torch.autograd.grad(mixed, w)[0].item() == 12
    assert func.jvp(lambda a: a * w.detach(), (x,), (x,))[1].requires_grad is False
    assert func.jvp(lambda a: a * w, (x,), (x,))[1].requires_grad


def test_products_of_nests():
    x = torch.tensor([1.0, 2.0, 3.0])
    value, multiply, aux = func.vjp(lambda a: ({"s": a.sin(), "c": a.cos()}, a + 1), x, has_aux=True)
    assert aux.tolist() == [2, 3, 4] and torch.allclose(multiply({"s": x, "c": x})[0], x * (x.cos() - x.sin()))
    for wrong in ((x, x), {"s": x}):
        with pytest.raises(RuntimeError, match="Expected pytree structure of cotangents to be the same"):
            multiply(wrong)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        multiply({"s": x[:2], "c": x})
    of_a, of_k = func.vjp(lambda a, c: a * c["k"], x, {"k": x})[1](x)
    assert of_a.tolist() == of_k["k"].tolist() == [1, 4, 9]
    value, along = func.jvp(lambda a: {"s": a["k"].sin()}, ({"k": x},), ({"k": x},))
    assert torch.allclose(along["s"], x * x.cos())
    assert func.jvp(lambda a: x, (x,), (x,))[1].tolist() == [0, 0, 0]
    value, along, aux = func.jvp(lambda a: (a * 2, a + 1), (x,), (x,), has_aux=True)
    assert along.tolist() == [2, 4, 6] and torch.equal(aux, x + 1)
    for call, message in ((lambda: func.jvp(lambda a: x, (x,), (x,), strict=True), "independent of the inputs"),
                          (lambda: func.jvp(torch.sin, x, x), "Expected primals to be a tuple"),
                          (lambda: func.jvp(torch.sin, (x,), (x, x)), "to have the same python structure"),
                          (lambda: func.grad(lambda a: a.sum(), argnums=1)(x), "Got argnum=1, but only 1 positional inputs"),
                          (lambda: func.grad(lambda a: a.sum(), argnums="a")(x), "argnums must be int or Tuple"),
                          (lambda: func.grad(lambda a: 3.0)(x), "to return a Tensor, got <class 'float'>"),
                          (lambda: func.grad(lambda a: a.sum(), has_aux=True)(x), "should be a tuple: \\(output, aux\\) if has_aux is True"),
                          (lambda: func.grad(lambda a: (a * 1j).sum())(x), "only for real scalar outputs but got"),
                          (lambda: func.jacrev(lambda a: 3)(x), "to return only tensors, got unsupported type <class 'int'>"),
                          (lambda: func.jacrev(torch.sin)(torch.tensor([1])), "only Tensors of floating point dtype")):
        with pytest.raises(RuntimeError, match=message):
            call()
    with pytest.raises(ValueError, match="must be Tensor, got <class 'float'>"):
        func.grad(torch.sin)(3.0)
    with pytest.raises(ValueError, match="`chunk_size` should be greater than 0"):
        func.jacrev(torch.sin, chunk_size=0)
    runs = []
    value, multiply = func.linearize(lambda a: (runs.append(1), a.sin())[1], x)
    assert torch.allclose(multiply(x), x * x.cos()) and multiply(2 * x).tolist() == (2 * multiply(x)).tolist() and len(runs) == 1


def test_random_numbers_in_a_forward_jacobian():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        func.jacfwd(lambda a: a * torch.rand(3))(X)
    assert func.jacfwd(lambda a: a * torch.rand(3), randomness="same")(X).shape == (3, 3)
    assert func.jacrev(lambda a: a * torch.rand(3))(X).shape == (3, 3)
    # A draw for each column.
    torch.manual_seed(7)
    noise = torch.rand(3, 3)
    torch.manual_seed(7)
    found = func.jacfwd(lambda a: a * torch.rand(3), randomness="different")(X)
    assert torch.equal(found, torch.diag(noise.diagonal()))
    nest, aux = func.jacfwd(lambda p: ({"o": p["a"].sum() * p["b"]}, p["a"] * 2), has_aux=True, randomness="different")({"a": A, "b": X})
    torch.testing.assert_close(nest["o"]["a"], X[:, None, None].expand(3, 2, 3))
    torch.testing.assert_close(nest["o"]["b"], torch.eye(3) * A.sum())
    assert torch.equal(aux, A * 2)


def test_strategies_of_jacobian_and_hessian():
    def f(a):
        return a.sin() * a.sum(), a[:2] * a[2]

    def cubes(a):
        return (a**3).sum() * a[0]
    for options in (dict(vectorize=True), dict(vectorize=True, strategy="forward-mode")):
        for ours, right in zip(functional.jacobian(f, X, **options), functional.jacobian(f, X)):
            torch.testing.assert_close(ours, right)
    for options in (dict(vectorize=True), dict(vectorize=True, outer_jacobian_strategy="forward-mode")):
        torch.testing.assert_close(functional.hessian(cubes, X, **options), functional.hessian(cubes, X))
    calls = []
    functional.jacobian(lambda a: (calls.append(1), a.sum().sin().expand(1000))[1], X, vectorize=True, strategy="forward-mode")
    assert len(calls) == 1
    for both, name in ((lambda **k: functional.jacobian(f, X, **k), "strategy"),
                       (lambda **k: functional.hessian(cubes, X, **k), "outer_jacobian_strategy")):
        with pytest.raises(NotImplementedError, match="implemented for `vectorize=True`"):
            both(**{name: "forward-mode"})
        with pytest.raises(NotImplementedError, match="`create_graph=True` and `strategy=\"forward-mode\"` are not supported together"):
            both(**{name: "forward-mode"}, vectorize=True, create_graph=True)
        with pytest.raises(RuntimeError, match="`strict=True` and `vectorized=True` are not supported together"):
            both(vectorize=True, strict=True)
        with pytest.raises(AssertionError, match="Expected strategy to be either"):
            both(**{name: "sideways"})


def test_gradients_for_a_batch_of_cotangents():
    x, w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.ones((), requires_grad=True)
    y = x**2
    j, = torch.autograd.grad(y, x, torch.eye(3), retain_graph=True, is_grads_batched=True)
    assert j.tolist() == torch.diag(2 * x.detach()).tolist()
    found = torch.autograd.grad([y, y.sum()], [x, w], [torch.eye(3), torch.arange(3.0)], retain_graph=True, is_grads_batched=True,
                                allow_unused=True)
    assert found[0].tolist() == ((torch.eye(3) + torch.arange(3.0)[:, None]) * 2 * x).tolist() and found[1] is None
    assert torch.autograd.grad(y, [x, w], torch.eye(3), retain_graph=True, is_grads_batched=True, materialize_grads=True)[1].item() == 0
    second, = torch.autograd.grad(y, x, torch.eye(3), create_graph=True, is_grads_batched=True)
    assert torch.autograd.grad(second.sum(), x, retain_graph=True)[0].tolist() == [2, 2, 2]
    assert torch.autograd.grad(y, x, torch.ones(0, 3), retain_graph=True, is_grads_batched=True)[0].shape == (0, 3)
    for wrong, message in ((torch.ones(2, 2), "the first dimension of each grad_output as the batch dimension"), (None, "a grad_output")):
        with pytest.raises((RuntimeError, ValueError), match=message):
            torch.autograd.grad(y, x, wrong, is_grads_batched=True)
    with pytest.raises(ValueError, match="allow_unused=False"):
        torch.autograd.grad(y, x, torch.ones(3), allow_unused=False, materialize_grads=True)
    torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)  # the last pass frees the graph
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x, torch.ones(3))


# ---- writing in place

def test_what_a_function_writes_into_its_input_is_differentiated():
    x, y = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([5.0, 6.0, 7.0, 8.0])

    def tangents():  # a write to a tensor writes its tangent, too
        return torch.full((4,), 10.0), torch.ones(4)

    def whole(a, b):
        part = a[::2]
        a.copy_(b)
        return a, part

    def half(a, b):
        part = a[::2]
        part.copy_(b[:2])
        return part, a
    assert [t.tolist() for t in func.jvp(whole, (x.clone(), y), tangents())[1]] == [[1, 1, 1, 1], [1, 1]]
    assert [t.tolist() for t in func.jvp(half, (x.clone(), y), tangents())[1]] == [[1, 1], [1, 10, 1, 10]]
    assert func.grad(lambda a, b: a.mul_(b).sum())(x.clone(), y).tolist() == y.tolist()
    assert func.vjp(lambda a: a.mul_(2), x.clone())[1](torch.ones(4))[0].tolist() == [2, 2, 2, 2]


def test_vmap_gives_arguments_by_keyword_to_every_call_as_they_are():
    x = torch.arange(3.0)
    assert torch.vmap(lambda a, b: a + b)(x, b=x).tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    with pytest.raises(ValueError, match="got no inputs"):
        torch.vmap(lambda a: a)(a=x)


def test_vmap_refuses_a_shared_tensor_that_slices_leave_different():
    with pytest.raises(RuntimeError, match=r"vmap: inplace arithmetic\(self, \*extra_args\) is not possible.* aten::add_"):
        torch.vmap(lambda a, b: a.add_(b), in_dims=(None, 0))(torch.zeros(2), torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        torch.vmap(lambda a, b: a.uniform_(), in_dims=(None, 0), randomness="different")(torch.zeros(2), torch.ones(3))
    assert torch.vmap(lambda a, b: a.fill_(2) + b, in_dims=(None, 0))(torch.zeros(2), torch.ones(3)).tolist() == [[3, 3]] * 3
    for dims in ("x", 1.0):
        with pytest.raises(ValueError, match="`out_dims` must be an int"):
            torch.vmap(lambda a: a, out_dims=dims)(torch.ones(2))


def test_aux_is_a_nest_of_tensors_and_jacobians_are_of_real_numbers():
    for call in (lambda: func.grad(lambda x: (x.sum(), 1), has_aux=True)(X), lambda: func.vjp(lambda x: (x, [x, "a"]), X, has_aux=True),
                 lambda: func.jacrev(lambda x: (x, 1.0), has_aux=True)(X)):
        with pytest.raises(RuntimeError, match="aux: Expected tensors, got unsupported type"):
            call()
    z = torch.ones(1, dtype=torch.complex64)
    for name in ("jacrev", "jacfwd"):
        with pytest.raises(RuntimeError, match=name + ": Expected all inputs to be real"):
            getattr(func, name)(lambda x: x.conj())(z)
        with pytest.raises(RuntimeError, match=name + ": Expected all outputs to be real"):
            getattr(func, name)(lambda x: x * 1j)(torch.ones(1))


def test_vmap_refuses_writes_of_slices_into_captured_tensors():
    batch, captured = torch.arange(6.0).reshape(3, 2), torch.zeros(2)

    def item(a):
        captured[0] = a[0]
        return a
    for name, f in (("add_", lambda a: captured.add_(a)), ("add_", lambda a: torch.add(a, 1, out=captured)),
                    ("copy_", lambda a: captured[0].copy_(a[0])), ("copy_", item), ("mul_", lambda a: captured.mul_(2 * a.sum())),
                    ("index_add_", lambda a: captured.index_add_(0, torch.tensor([0, 1]), a))):
        with pytest.raises(RuntimeError, match=rf"\(self, \*extra_args\) is not possible.* aten::{name}"):
            torch.vmap(f)(batch)
        assert captured.tolist() == [0, 0]
    # Equal slices make it no better, and one slice neither.
    with pytest.raises(RuntimeError, match="is not possible"):
        torch.vmap(lambda a: captured.add_(a))(torch.ones(1, 2))


def test_vmap_writes_captured_tensors_once():
    batch, captured = torch.arange(6.0).reshape(3, 2), torch.zeros(2)
    assert torch.vmap(lambda a: captured.add_(1) * a)(batch).tolist() == batch.tolist()
    assert captured.tolist() == [1, 1]
    torch.vmap(lambda a: torch.vmap(lambda b: captured.mul_(2) + b)(a))(batch)
    assert captured.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        torch.vmap(lambda a: captured.uniform_() + a, randomness="different")(batch)
    recorded = torch.ones(2, requires_grad=True) * 1
    torch.vmap(lambda a: recorded.mul_(2) * a)(batch)
    assert recorded.tolist() == [2, 2]


def test_slices_of_vmap_write_what_they_make():
    batch = torch.arange(6.0).reshape(3, 2)

    def made(a):
        z = torch.zeros(2)
        z.add_(a)
        z[0] = 5
        return z
    assert torch.vmap(made)(batch).tolist() == [[5, 1], [5, 3], [5, 5]]
    assert torch.vmap(torch.vmap(lambda a: made(a.expand(2))))(batch)[0].tolist() == [[5, 0], [5, 1]]
    assert torch.vmap(lambda a: torch.tensor([1.0, 2.0]).mul_(3) * a)(batch).tolist() == (batch * torch.tensor([3.0, 6.0])).tolist()
    assert torch.vmap(lambda a: a.mul_(2))(batch).tolist() == [[0, 2], [4, 6], [8, 10]]
    assert batch.tolist() == [[0, 2], [4, 6], [8, 10]]


def test_gradients_refuse_writes_of_their_inputs_into_captured_tensors():
    x, captured = torch.ones(3), torch.zeros(3)

    def f(x):
        captured.copy_(2 * x)
        return (x * captured).sum()
    for transform in (lambda: func.grad(f)(x), lambda: func.vjp(f, x), lambda: func.jvp(f, (x,), (x,)), lambda: func.jacrev(f)(x),
                      lambda: func.vmap(func.grad(f))(x.expand(2, 3))):
        with pytest.raises(RuntimeError, match="would mutate a captured Tensor|The op that would write is aten::copy_"):
            transform()
        assert captured.tolist() == [0, 0, 0] and not captured.requires_grad

    def g(x):
        captured.add_(1)
        own = torch.zeros(3)
        own.copy_(x)
        return (own * captured).sum()
    assert func.grad(g)(x).tolist() == [1, 1, 1]


def test_results_of_vmap_that_are_parts_of_an_argument_are_views():
    batch = torch.arange(24.0).reshape(2, 3, 4).clone()
    assert torch.vmap(torch.Tensor.neg_)(batch) is batch and batch[0, 0, 1] == -1
    with pytest.raises(IndexError):
        torch.vmap(lambda a: a, out_dims=3)(batch)
    for f, dims, want in ((lambda a: a.t(), (0, 0), batch.transpose(1, 2)), (lambda a: a[1], (1, 1), batch[1].t()),
                          (lambda a: a[..., 1:], (0, 2), batch[..., 1:].movedim(0, 2)), (lambda a: a.diagonal(), (2, 0), batch.diagonal())):
        result = torch.vmap(f, in_dims=dims[0], out_dims=dims[1])(batch)
        assert result._base is batch and torch.equal(result, want)
    assert torch.vmap(torch.vmap(lambda a: a[0]))(batch)._base is batch
    # What is recorded, converted or different in each slice is a copy.
    assert torch.vmap(lambda a: a.double())(batch)._base is None
    leaf = batch.clone().requires_grad_()
    torch.vmap(lambda a: a.t())(leaf).sum().backward()
    assert leaf.grad.sum() == 24


def test_running_statistics_within_transforms():
    norm, batch = torch.nn.BatchNorm1d(2), torch.arange(12.0).reshape(2, 3, 2)
    with pytest.raises(RuntimeError, match="running_mean or running_var, which will be updated in place, were not batched"):
        torch.vmap(lambda x: torch.nn.functional.batch_norm(x, norm.running_mean, norm.running_var, training=True))(batch)
    assert norm.running_mean.tolist() == [0, 0]
    # The same input for all slices moves them once; gradients do not mind.
    shift = torch.zeros(4, 2)
    torch.vmap(lambda b: torch.nn.functional.batch_norm(batch[0], norm.running_mean, norm.running_var, None, b, training=True))(shift)
    torch.testing.assert_close(norm.running_mean, 0.1 * batch[0].mean(0))
    func.grad(lambda x: torch.nn.functional.batch_norm(x, norm.running_mean, norm.running_var, training=True).sum())(batch[0])
    torch.testing.assert_close(norm.running_mean, 0.19 * batch[0].mean(0))


def test_a_process_can_be_forked_while_a_thread_maps():
    program = """
import os, threading
import argand as torch
stop = False
def maps():
    while not stop:
        torch.vmap(lambda row: row.mul(2).add_(1))(torch.ones(50, 4))
torch.vmap(lambda row: row * 2)(torch.ones(3, 4)).sum() + 1  # imports are done: a child waits for ever for those that a thread was in
threading.Thread(target=maps, daemon=True).start()
for _ in range(60):
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(20)  # ends a child that waits for ever
        assert torch.vmap(lambda row: row * 2)(torch.ones(3, 4)).sum() == 24 and (torch.ones(3) + 1).sum() == 6
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
print("forked")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert ran.stdout == "forked\n", ran.stderr


class Tied(torch.nn.Module):
    """Two names of one parameter, and a buffer that calls write."""

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(2, 2)
        self.two = torch.nn.Linear(2, 2)
        self.two.weight = self.one.weight
        self.norm = torch.nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(self.two(self.one(x)))


def test_functions_of_modules_compute_with_the_tensors_that_they_get():
    from argand._torch._functorch.make_functional import combine_state_for_ensemble, make_functional, make_functional_with_buffers
    torch.manual_seed(0)
    model, x = Tied(), torch.randn(4, 2)
    function, params, buffers = make_functional_with_buffers(model)
    assert function.param_names == ("one.weight", "one.bias", "two.bias", "norm.weight", "norm.bias")
    assert function.buffer_names == ("norm.running_mean", "norm.running_var", "norm.num_batches_tracked")
    assert function.all_names_map["one.weight"] == ["one.weight", "two.weight"]
    assert params[0] is not model.one.weight and params[0].requires_grad and function.stateless_model.one.weight.is_meta
    grads = func.grad(lambda p: function(p, buffers, x).square().sum() + p[0].sum())(params)
    assert buffers[0].any() and not model.norm.running_mean.any()  # the buffers of the call were written
    loss = model(x).square().sum() + model.one.weight.sum()
    for ours, theirs in zip(grads, torch.autograd.grad(loss, list(model.parameters()))):
        torch.testing.assert_close(ours, theirs)
    with pytest.raises(RuntimeError, match="has buffers. Please use make_functional_with_buffers"):
        make_functional(model)
    with pytest.raises(ValueError, match="expected 8 tensors.*got 3"):
        function(params[:0], buffers, x)
    assert not any(p.requires_grad for p in make_functional(model.one, disable_autograd_tracking=True)[1])

    models, xs = [torch.nn.Linear(2, 3) for _ in range(3)], torch.randn(3, 4, 2)
    function, params, buffers = combine_state_for_ensemble(models)
    assert buffers == () and params[0].shape == (3, 3, 2) and params[0].is_leaf and params[0].requires_grad
    torch.testing.assert_close(func.vmap(function)(params, buffers, xs), torch.stack([m(t) for m, t in zip(models, xs)]))
    for wrong, why in (([], "at least one model"), ([models[0], torch.nn.ReLU()], "same class"),
                       ([models[0], torch.nn.Linear(2, 3).eval()], "same training/eval mode")):
        with pytest.raises(RuntimeError, match=why):
            combine_state_for_ensemble(wrong)


def test_stacked_modules_agree_on_what_requires_grad():
    models = [torch.nn.Linear(2, 2) for _ in range(2)]
    models[0].weight.requires_grad_(False)
    with pytest.raises(RuntimeError, match="Expected weight from each model to have the same .requires_grad"):
        func.stack_module_state(models)


class Cubes(torch.autograd.Function):
    """x ** 3 with a rule that notes what it is called with."""
    calls = []

    @staticmethod
    def forward(x, scale=1):
        return x ** 3 * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2, None

    @staticmethod
    def vmap(info, in_dims, x, scale):
        Cubes.calls.append((info.batch_size, info.randomness, in_dims, tuple(x.shape)))
        return Cubes.apply(x, scale), in_dims[0]


@pytest.fixture
def calls():
    Cubes.calls.clear()
    return Cubes.calls


def test_the_rule_of_a_function_gets_the_whole_batch_where_vmap_maps_the_function(calls):
    x = torch.arange(6.0).view(2, 3)
    assert torch.equal(func.vmap(Cubes.apply, in_dims=-1, out_dims=1, randomness="same")(x), x ** 3)
    assert torch.equal(func.vmap(Cubes.apply, in_dims=(0, None))(x, 2), x ** 3 * 2)
    assert calls == [(3, "same", (1, None), (2, 3)), (2, "error", (0, None), (2, 3))]


def test_within_another_function_the_rule_gets_the_batch_of_its_argument(calls):
    x = torch.arange(1.0, 7).view(2, 3)
    assert torch.equal(func.vmap(lambda row: Cubes.apply(row.sin()).sum())(x), (x.sin() ** 3).sum(1))
    assert calls == [(2, "error", (0, None), (2, 3))]
    calls.clear()
    assert torch.equal(func.vmap(func.vmap(lambda t: Cubes.apply(t)))(x), x ** 3)
    # The rule is called once for each vmap around it, the inner one's batch first.
    assert calls == [(3, "error", (0, None), (3,)), (2, "error", (0, None), (2, 3))]
    torch.testing.assert_close(func.vmap(func.grad(lambda row: Cubes.apply(row).sum()))(x), 3 * x ** 2)
    calls.clear()
    func.vmap(lambda row: row + Cubes.apply(torch.ones(3)))(x)  # what is no slice has no batch
    assert calls == []


def test_what_rules_may_not_return(calls):
    def of(result, **body):
        return type("Wrong", (Cubes,), {"vmap": staticmethod(lambda info, in_dims, x, scale: result(x)), **body}).apply
    x = torch.ones(2, 3)
    for apply, why in ((of(lambda x: x), "to have two returns"), (of(lambda x: (x, (0, 0))), "returned an incompatible"),
                       (of(lambda x: (x, 0), generate_vmap_rule=True), "both generate_vmap_rule=True and")):
        for function in (apply, lambda t, apply=apply: apply(t)):
            with pytest.raises(RuntimeError, match=why):
                func.vmap(function)(x)
    assert torch.equal(func.vmap(of(lambda x: (torch.ones(4), None)))(x), torch.ones(2, 4))
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        func.vmap(Cubes.apply, out_dims=None)(x)
    with pytest.raises(ValueError, match="must only return Tensors"):
        func.vmap(of(lambda x: (3, None)))(x)

    class Named(torch.autograd.Function):
        @staticmethod
        def forward(x, *, y=1):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        Named.apply(x, y=2)
    with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
        func.vmap(lambda t: Named.apply(t, y=x))(x)
    assert torch.equal(Named.apply(x), x)


def test_the_rule_of_an_op_is_called_as_that_of_a_function():
    @torch.library.custom_op("test_func::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float = 2.0, *, more: float = 0.0) -> torch.Tensor:
        return x * by + more
    seen, x = [], torch.arange(6.0).view(2, 3)

    @scaled.register_vmap
    def rule(info, in_dims, x, by, *, more=0.0):
        seen.append((info.batch_size, in_dims))
        return scaled(x, by, more=more), in_dims[0]
    assert torch.equal(func.vmap(scaled, in_dims=(1, None), out_dims=1)(x, 3.0, more=1.0), x * 3 + 1)
    assert torch.equal(func.vmap(lambda row: torch.ops.test_func.scaled(row, 3.0))(x), x * 3)
    assert seen == [(3, (1, None)), (2, (0, None))]
    assert torch.equal(func.vmap(func.vmap(scaled, in_dims=(0, None)), in_dims=(0, None))(x, 3.0), x * 3)

    @torch.library.register_vmap("test_func::scaled")
    def later(info, in_dims, x, by):
        return torch.zeros(3), None
    assert not func.vmap(lambda row: scaled(row, 1.0))(x).any()
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.library.register_vmap("test_func::other", later)
