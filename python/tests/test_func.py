"""torch.func and torch.autograd.functional."""
import subprocess
import sys

import argand as torch
import pytest
from argand import func
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
    with pytest.raises(RuntimeError, match="v should have the sizes"):
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
    with pytest.raises(RuntimeError, match="single Tensor with a single element"):
        functional.hessian(tanh_product, X)


def test_grad():
    torch.testing.assert_close(func.grad(lambda x: torch.sin(x).sum())(X), X.cos())
    torch.testing.assert_close(func.grad(func.grad(torch.sin))(X[0]), -X[0].sin())
    by_both = func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(X, X * 2)
    torch.testing.assert_close(by_both[0], X * 2)
    gradient, (value, extra) = func.grad_and_value(lambda x: ((x**2).sum(), "extra"), has_aux=True)(X)
    torch.testing.assert_close(gradient, 2 * X)
    assert extra == "extra" and not value.requires_grad and not gradient.requires_grad
    nest = func.grad(lambda p: (p["w"] * p["b"]).sum())({"w": X, "b": X + 1})
    torch.testing.assert_close(nest["w"], X + 1)
    with pytest.raises(RuntimeError, match="return a scalar tensor, got tensor with 1 dims"):
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
    """Two tensors, as a package's container of tensors: vmap knows it by this method."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    shape = property(lambda self: self.a.shape[:1])

    def unbind(self, dim):
        return [Pair(a, b) for a, b in zip(self.a.unbind(dim), self.b.unbind(dim))]

    def _add_batch_dim(self, *, in_dim, vmap_level):
        raise AssertionError("never called")


def test_vmap_cuts_containers_of_tensors():
    pair = Pair(torch.arange(3.0), torch.arange(6.0).view(3, 2))
    out = torch.func.vmap(lambda p, x: p.a + p.b.sum() + x, in_dims=(0, None))(pair, torch.tensor(1.0))
    assert out.tolist() == [2, 7, 12]


def test_functorch_is_torch_func(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch, functorch\nfrom functorch import vmap, grad, FunctionalModule\n"
                      "import torch._functorch.vmap\nfrom torch._C._functorch import is_batchedtensor\n"
                      "print(vmap is torch.func.vmap, grad(torch.sin)(torch.tensor(0.0)).item(), is_batchedtensor(torch.ones(1)))\n"
                      "try: functorch.make_functional(torch.nn.Linear(1, 1))\n"
                      "except NotImplementedError as e: print(e)\n")
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=120)
    assert out.stdout.splitlines() == ["True 1.0 False", "functorch.make_functional: use torch.func.functional_call(), or "
                                       "stack_module_state() for several models"], out.stderr
