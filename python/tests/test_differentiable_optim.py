"""Optimizers in tensor operations: recorded for autograd (differentiable=True), and for what a CUDA graph may hold."""
import json
import warnings

import argand as torch
import differentiable_cases
import pytest
from argand.autograd import gradcheck
from trajectories import read

STARTS, GRADS, OPTIMIZERS, _ = read()
RECORDED = json.loads(differentiable_cases.PATH.read_text())


@pytest.fixture(autouse=True)
def float64_counts():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name,options,second,after", [o for o in OPTIMIZERS if o[0] != "Adafactor"], ids=lambda v: str(v)[:60])
def test_the_rule_in_tensor_operations_is_the_fused_one(name, options, second, after):
    params = [torch.tensor(s) for s in STARTS]
    groups = params if second is None else [{"params": params[:1]}, {"params": params[1:], **second}]
    optimizer = getattr(torch.optim, name)(groups, **options, differentiable=True)
    for step, expected in enumerate(after):
        for i, p in enumerate(params):
            p.grad = torch.tensor(GRADS[step, i]) if (step, i) in GRADS else None
        optimizer.step()
        values = [v for p in params for v in p.detach().tolist()]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-14), f"step {step}"


@pytest.mark.parametrize("name,options,second,after", [o for o in OPTIMIZERS if o[0] not in ("Adafactor", "Adagrad", "SGD")],
                         ids=lambda v: str(v)[:60])
def test_the_rule_whose_numbers_are_tensors_is_the_fused_one(name, options, second, after, monkeypatch):
    """What a CUDA graph holds: here on the CPU, as if it were a GPU.  No step reads a number back."""
    from argand.optim import _native, _tensor_step, asgd, nadam
    for module in (_native, _tensor_step, asgd, nadam):
        monkeypatch.setattr(module, "capturable", lambda group, param: group["capturable"])
    params = [torch.tensor(s) for s in STARTS]
    options = {**options, "lr": torch.tensor(options["lr"])}
    second = {key: torch.tensor(value) if key == "lr" else value for key, value in (second or {}).items()}
    groups = [{"params": params[:1]}, {"params": params[1:], **second}]
    optimizer = getattr(torch.optim, name)(groups, **options, capturable=True)
    for step, expected in enumerate(after):
        for i, p in enumerate(params):
            p.grad = torch.tensor(GRADS[step, i]) if (step, i) in GRADS else None
        with monkeypatch.context() as reading:
            if step:
                for method in ("__float__", "item", "tolist", "__bool__"):
                    reading.setattr(torch.Tensor, method, None)
            optimizer.step()
        values = [v for p in params for v in p.tolist()]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-14), f"step {step}"


def test_steps_and_their_gradients_are_those_of_pytorch():
    for case, expected, found in zip(differentiable_cases.CASES, RECORDED, differentiable_cases.walks(torch), strict=True):
        assert len(found) == len(expected)
        for what, (a, b) in enumerate(zip(found, expected)):
            assert a == pytest.approx(b, rel=1e-12, abs=1e-14), (case, what)


# The options of an optimizer, those of them that are differentiated, and the numbers of its state that are.
CHECKED = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.3, "maximize": True}, ("momentum_buffer",)),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}, ("momentum_buffer",)),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3, "amsgrad": True}, ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")),
    ("AdamW", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.3}, ("exp_avg", "exp_avg_sq")),
    ("Adadelta", {"lr": 0.1, "weight_decay": 0.3}, ("square_avg", "acc_delta")),
    ("Adagrad", {"lr": 0.1, "weight_decay": 0.3, "lr_decay": 0.1}, ("sum",)),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.3}, ("exp_avg", "exp_inf")),
    ("ASGD", {"lr": 0.1, "weight_decay": 0.3, "lambd": 0.1}, ("ax", "eta", "mu")),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.3}, ("exp_avg", "exp_avg_sq", "mu_product")),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.3, "decoupled_weight_decay": True}, ("exp_avg", "exp_avg_sq")),
    ("RMSprop", {"lr": 0.1, "weight_decay": 0.3, "momentum": 0.5, "centered": True}, ("square_avg", "momentum_buffer", "grad_avg")),
    ("Rprop", {"lr": 0.1}, ("prev", "step_size")),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("name,options,state", CHECKED, ids=lambda v: str(v)[:40])
def test_gradients_go_to_all_a_step_reads(name, options, state, dtype):
    torch.manual_seed(3)
    numbers = [key for key in ("lr", "weight_decay") if key in options]
    beta = "betas" in options

    def positive(*size):
        parts = torch.rand(*size) * 0.4 + 0.4
        return torch.complex(parts, torch.rand(*size) * 0.4 + 0.4) if dtype.is_complex else parts

    def stepped(p, grad, *rest):
        given = dict(zip(numbers, rest))
        if beta:
            given["betas"] = rest[len(numbers):len(numbers) + 2]
        p = p.clone()
        p.grad = grad
        optimizer = getattr(torch.optim, name)([p], **{**options, **given}, differentiable=True)
        optimizer.state[p].update(zip(state, (t.clone() for t in rest[len(rest) - len(state):])), step=torch.tensor(10.0))
        optimizer.step()
        return p, *(optimizer.state[p][key] for key in state)

    inputs = [positive(3), positive(3)] + [torch.tensor(options[key]) for key in numbers]
    inputs += [torch.tensor(b) for b in options["betas"]] if beta else []
    for key in state:
        scale = 0.01 if key == "grad_avg" else 1  # a variance above 0
        inputs.append(torch.tensor(0.7) if key in ("eta", "mu", "mu_product") else positive(3) * scale)
    assert gradcheck(stepped, [t.requires_grad_() for t in inputs])


@pytest.mark.parametrize("name,options,state", CHECKED, ids=lambda v: str(v)[:40])
def test_several_steps_may_be_kept_for_one_backward(name, options, state):
    data = torch.tensor([[1.7, -0.3], [-2.0, 0.4], [0.9, 2.2]])

    def walk(start, lr):
        p = start.clone()
        optimizer = getattr(torch.optim, name)([p], **{**options, "lr": lr}, differentiable=True)
        for row in data:
            at = p.clone()
            p.grad, = torch.autograd.grad(((at - row) ** 4).sum(), at, create_graph=True)
            optimizer.step()
        return p
    if name == "SGD":  # the first momentum has no gradient, as in PyTorch
        options = {**options, "momentum": 0, "nesterov": False, "dampening": 0}
    assert gradcheck(walk, (torch.tensor([0.5, -0.7], requires_grad=True), torch.tensor(0.01, requires_grad=True)))


@pytest.mark.parametrize("first", [True, False])
def test_a_leaf_cannot_be_stepped_and_nothing_changes(first):
    leaf, other = torch.ones(2, requires_grad=True), torch.ones(2)
    leaf.grad = other.grad = torch.ones(2)
    optimizer = torch.optim.Adam([leaf, other] if first else [other, leaf], differentiable=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        optimizer.step()
    assert leaf.tolist() == other.tolist() == [1, 1] and not optimizer.state


@pytest.mark.parametrize("name,key,message", [
    ("Adam", "exp_avg", "expected the parameter of shape (2,) after the step, got (3, 2)"),
    ("ASGD", "ax", "expected ax of shape (3, 2) after the step, got (2,)"),  # which then is the parameter itself
    ("Rprop", "prev", "expected the parameter of shape (2,) after the step, got (3, 2)")])
def test_a_state_of_another_shape_changes_nothing(name, key, message):
    params = [torch.ones(2), torch.ones(2)]
    optimizer = getattr(torch.optim, name)(params, lr=0.1, differentiable=True)
    for p in params:
        p.grad = torch.ones(2)
    optimizer.step()
    values = [p.tolist() for p in params]
    optimizer.state[params[1]][key] = torch.ones(3, 2)
    with pytest.raises(RuntimeError) as caught:
        optimizer.step()
    assert f"{name}.step(): {message}" in str(caught.value)
    assert [p.tolist() for p in params] == values and optimizer.state[params[0]]["step"].item() == 1


def test_a_count_has_no_gradient():
    p = torch.ones(2)
    p.grad = torch.ones(2)
    optimizer = torch.optim.Adam([p], differentiable=True)
    optimizer.state[p]["step"] = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="`requires_grad` is not supported for `step` in differentiable mode"):
        optimizer.step()


def test_only_differentiable_optimizers_take_what_is_no_leaf():
    p = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([p])
    torch.optim.SGD([p], differentiable=True)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        torch.optim.SGD([p], differentiable=True, fused=True)


def test_a_state_goes_from_one_form_of_a_step_to_the_other():
    def walk(forms):
        p = torch.tensor([0.5, -0.7])
        optimizer = torch.optim.NAdam([p], lr=0.1)
        for step, recorded in enumerate(forms):
            optimizer.defaults["differentiable"] = recorded
            p.grad = p.detach() * (step + 1) - 1
            optimizer.step()
            p.detach_()
        return p.tolist() + [v for t in optimizer.state[p].values() for v in t.flatten().tolist()]
    assert walk([False] * 6) == pytest.approx(walk([False, True, True, False, False, True]), rel=1e-12)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"])
@pytest.mark.parametrize("differentiable", [False, True])
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
def test_a_complex_parameter_is_two_real_ones(name, differentiable, layout):
    options = {"SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True}, "RMSprop": {"centered": True, "momentum": 0.5},
               "Adagrad": {"initial_accumulator_value": 0.5}}.get(name, {})
    torch.manual_seed(1)
    start, grads = torch.randn(4, 3, 2), [torch.randn(4, 3, 2) for _ in range(4)]
    ends = []
    for as_complex in (False, True):
        p = torch.view_as_complex(start.clone()) if as_complex else start.clone()
        if as_complex and layout == "transposed":
            p = p.t().contiguous().t()
        optimizer = getattr(torch.optim, name)([p], lr=0.1, differentiable=differentiable, **options)
        for g in grads:
            p.grad = torch.view_as_complex(g) if as_complex else g
            optimizer.step()
        states = [t for key, t in optimizer.state[p].items() if isinstance(t, torch.Tensor) and t.dim()]
        ends.append([torch.view_as_real(t) if t.is_complex() else t for t in [p, *states]])
    assert len(ends[0]) == len(ends[1])
    for real, parts in zip(*ends):
        assert torch.equal(real, parts)


def test_a_learning_rate_may_be_a_tensor_of_shape_1():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("Adam", "ASGD", "Rprop", "SGD"):
            ends = []
            for differentiable in (False, True):
                p = torch.ones(())
                p.grad = torch.tensor(2.0)
                optimizer = getattr(torch.optim, name)([p], lr=torch.tensor([0.5]), differentiable=differentiable)
                optimizer.step()
                assert p.shape == ()
                ends.append(p.item())
            assert ends[0] == pytest.approx(ends[1])
