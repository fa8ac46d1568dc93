"""Optimizers: trajectories recorded from PyTorch, groups, state and its formats, hooks, programs' own optimizers."""
import copy
import gc
import pickle
import warnings
import weakref

import argand as torch
import pytest
from argand.nn.parameter import Parameter
from trajectories import read

STARTS, GRADS, OPTIMIZERS, _ = read()
NAMES = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop", "Adafactor"]


def parameters(dtype=torch.float64):
    return [Parameter(torch.tensor(s, dtype=dtype)) for s in STARTS]


def give_grads(params, step):
    for i, p in enumerate(params):
        p.grad = torch.tensor(GRADS[step, i], dtype=p.dtype) if (step, i) in GRADS else None


def flat(params):
    return [v for p in params for v in p.detach().tolist()]


def run(params, optimizer, steps):
    for step in steps:
        give_grads(params, step)
        optimizer.step()
    return flat(params)


@pytest.mark.parametrize("name,options,second,after", OPTIMIZERS, ids=lambda v: str(v)[:60])
def test_trajectory(name, options, second, after):
    params = parameters()
    groups = params if second is None else [{"params": params[:1]}, {"params": params[1:], **second}]
    optimizer = getattr(torch.optim, name)(groups, **options)
    for step, expected in enumerate(after):
        give_grads(params, step)
        optimizer.step()
        assert flat(params) == pytest.approx(expected, rel=1e-12, abs=1e-14), f"step {step}"


@pytest.mark.parametrize("name,options,second,after", [o for o in OPTIMIZERS if o[2] is None], ids=lambda v: str(v)[:60])
@pytest.mark.parametrize("how", ["state_dict", "deepcopy", "pickle"])
def test_goes_on_from_a_copy(name, options, second, after, how):
    params = parameters()
    optimizer = getattr(torch.optim, name)(params, **options)
    run(params, optimizer, range(4))
    if how == "state_dict":
        again = parameters()
        for p, q in zip(again, params):
            p.data = q.detach().clone()
        other = getattr(torch.optim, name)(again, lr=123.0)
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    else:
        other = copy.deepcopy(optimizer) if how == "deepcopy" else pickle.loads(pickle.dumps(optimizer))
        again = other.param_groups[0]["params"]
        assert again[0] is not params[0]
    assert run(again, other, range(4, 8)) == pytest.approx(after[-1], rel=1e-12, abs=1e-14)
    # The original was not touched.
    assert run(params, optimizer, range(4, 8)) == pytest.approx(after[-1], rel=1e-12, abs=1e-14)


STATES = {"SGD": [], "Adam": ["step", "exp_avg", "exp_avg_sq"], "AdamW": ["step", "exp_avg", "exp_avg_sq"],
          "RMSprop": ["step", "square_avg"], "Adagrad": ["step", "sum"], "Adadelta": ["step", "square_avg", "acc_delta"],
          "Adamax": ["step", "exp_avg", "exp_inf"], "NAdam": ["step", "mu_product", "exp_avg", "exp_avg_sq"],
          "RAdam": ["step", "exp_avg", "exp_avg_sq"], "ASGD": ["step", "eta", "mu", "ax"],
          "Rprop": ["step", "prev", "step_size"], "Adafactor": ["step", "variance"]}


@pytest.mark.parametrize("name", NAMES)
def test_state_dict_format(name):
    p = Parameter(torch.zeros(3))
    optimizer = getattr(torch.optim, name)([p], lr=0.1)
    p.grad = torch.ones(3)
    optimizer.step()
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"] and state["param_groups"][0]["params"] == [0]
    assert list(state["state"].get(0, {})) == STATES[name]
    if STATES[name]:
        assert type(state["state"][0]) is dict
        step = state["state"][0]["step"]
        assert isinstance(step, torch.Tensor) and step.dtype is torch.float32 and step.shape == () and step.item() == 1
    assert list(state["param_groups"][0])[-1] == "params" and state["param_groups"][0]["lr"] == 0.1


def test_mu_product_is_that_of_the_steps():
    p = Parameter(torch.zeros(1, dtype=torch.float64))
    optimizer = torch.optim.NAdam([p])
    expected = 1.0
    for step in range(1, 4):
        p.grad = torch.ones_like(p)
        optimizer.step()
        expected *= 0.9 * (1 - 0.5 * 0.96 ** (step * 4e-3))
    assert optimizer.state[p]["mu_product"].item() == pytest.approx(expected, rel=1e-6)


def test_group_options_may_change_between_steps():
    p = Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=1.0)
    for lr in (1.0, 0.5, 0.25):
        optimizer.param_groups[0]["lr"] = lr
        p.grad = torch.ones(1)
        optimizer.step()
    assert p.item() == -1.75
    optimizer.param_groups[0].update(maximize=True, weight_decay=1.0)
    optimizer.step()
    assert p.item() == -1.75 + 0.25 * (1.0 + 1.75 * 1.0) - 0  # climbs: the penalty is of the negated gradient


def test_rprop_keeps_the_digits_of_its_factors():
    p = Parameter(torch.zeros(2, dtype=torch.float64))
    optimizer = torch.optim.Rprop([p], lr=0.1)
    for grads in ([1.0, 1.0], [1.0, -1.0]):
        p.grad = torch.tensor(grads, dtype=torch.float64)
        optimizer.step()
    assert optimizer.state[p]["step_size"].tolist() == [0.1 * 1.2, 0.1 * 0.5]


def test_tensor_lr_is_read_at_each_step():
    p, lr = Parameter(torch.zeros(1)), torch.tensor(1.0)
    optimizer = torch.optim.SGD([p], lr=lr)
    p.grad = torch.ones(1)
    optimizer.step()
    lr.fill_(0.5)
    optimizer.step()
    assert p.item() == -1.5


def test_add_param_group_keeps_states():
    a, b = Parameter(torch.zeros(2)), Parameter(torch.zeros(2))
    optimizer = torch.optim.Adam([a], lr=0.1)
    a.grad = torch.ones(2)
    optimizer.step()
    optimizer.add_param_group({"params": b, "lr": 0.5})
    b.grad = torch.ones(2)
    optimizer.step()
    assert optimizer.state[a]["step"].item() == 2 and optimizer.state[b]["step"].item() == 1
    assert a.tolist() == pytest.approx([-0.2, -0.2]) and b.tolist() == pytest.approx([-0.5, -0.5])
    assert [g["lr"] for g in optimizer.param_groups] == [0.1, 0.5]


def test_state_can_be_written():
    p = Parameter(torch.zeros(2))
    optimizer = torch.optim.Adam([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.step()
    for state in optimizer.state.values():  # what programs do to move a state to another device
        for key, value in state.items():
            state[key] = value.clone()
    optimizer.state[p]["exp_avg"] = torch.full((2,), 7.0)
    optimizer.state[p]["note"] = "mine"
    optimizer.step()
    assert optimizer.state[p]["exp_avg"].tolist() == pytest.approx([6.4, 6.4]) and optimizer.state[p]["step"].item() == 2
    assert optimizer.state[p]["note"] == "mine" and optimizer.state_dict()["state"][0]["note"] == "mine"
    optimizer.state[p]["exp_avg"].zero_()  # tensors of the state are those that the update works on
    optimizer.step()
    assert optimizer.state[p]["exp_avg"].tolist() == pytest.approx([0.1, 0.1])
    optimizer.state.clear()
    assert len(optimizer.state) == 0
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 1


def test_replaced_parameters_are_noticed():
    a, b = Parameter(torch.zeros(1)), Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([a], lr=1.0, momentum=0.9)
    a.grad, b.grad = torch.ones(1), torch.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["params"][0] = b
    optimizer.step()
    assert a.item() == -1 and b.item() == -1


def test_adam_becomes_adamw_by_its_option():
    def after(**options):
        p = Parameter(torch.ones(1))
        optimizer = options.pop("kind")([p], lr=0.1, weight_decay=0.5, **options)
        p.grad = torch.ones(1)
        optimizer.step()
        return p.item()
    assert after(kind=torch.optim.Adam, decoupled_weight_decay=True) == after(kind=torch.optim.AdamW)
    assert after(kind=torch.optim.Adam) != after(kind=torch.optim.AdamW)


def test_zero_grad():
    p = Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], lr=0.1)
    p.grad = torch.ones(2)
    grad = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is grad and grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert p.grad is None


def given_grad(kind, p, **options):
    p.grad = torch.ones_like(p)
    return kind([p], **options)


def fused_step(p):
    given_grad(torch.optim.SGD, p, fused=True).step()


@pytest.mark.parametrize("make,error,message", [
    (lambda p: torch.optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
    (lambda p: torch.optim.SGD(p), TypeError, "should be an iterable of Tensors or dicts, but got torch.FloatTensor"),
    (lambda p: torch.optim.SGD([1]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
    (lambda p: torch.optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
    (lambda p: torch.optim.SGD([{"params": [p]}, {"params": [p]}]), ValueError,
     "some parameters appear in more than one parameter group"),
    (lambda p: torch.optim.SGD([{"params": {p}}]), TypeError, "ordered collections"),
    (lambda p: torch.optim.SGD([p], lr=-1), ValueError, "Invalid learning rate: -1"),
    (lambda p: torch.optim.SGD([p], momentum=-1), ValueError, "Invalid momentum value: -1"),
    (lambda p: torch.optim.SGD([p], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
    (lambda p: torch.optim.Adam([p], eps=-1), ValueError, "Invalid epsilon value: -1"),
    (lambda p: torch.optim.Adam([p], betas=(1, 0)), ValueError, "Invalid beta parameter at index 0: 1"),
    (lambda p: torch.optim.Adam([p], foreach=True, fused=True), RuntimeError, "cannot be `True` together"),
    (lambda p: torch.optim.Adam([p], betas=(0.9, torch.tensor(0.9))), ValueError, "betas must be either both floats or both Tensors"),
    (lambda p: torch.optim.Adam([p], betas=(torch.tensor(0.9), torch.tensor(0.9)), foreach=True), ValueError,
     "betas[0] as a Tensor is not supported for capturable=False and foreach=True"),
    (lambda p: fused_step(torch.ones(2, device="meta")), RuntimeError, "`fused=True` requires all the params to be floating point "
     "Tensors of supported devices: ['cuda', 'cpu'] but torch.float32 and meta"),
    (lambda p: fused_step(torch.ones(2, dtype=torch.complex64)), RuntimeError, "but torch.complex64 and cpu"),
    (lambda p: given_grad(torch.optim.Adafactor, torch.ones(2, dtype=torch.complex64)).step(), RuntimeError,
     "Adafactor does not support complex parameters"),
    (lambda p: torch.optim.Adam([p]).add_param_group([p]), TypeError, "param_group must be a dict, but got <class 'list'>"),
    (lambda p: torch.optim.Adam([p]).load_state_dict({"state": {}, "param_groups": []}), ValueError,
     "loaded state dict has a different number of parameter groups"),
    (lambda p: torch.optim.Adam([p]).load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}), ValueError,
     "doesn't match the size of optimizer's group"),
    (lambda p: torch.optim.Rprop([p], etas=(-1, 2)), ValueError, "Invalid eta values: -1, 2"),
    (lambda p: torch.optim.LBFGS([{"params": [p]}, {"params": [Parameter(torch.ones(1))]}]), ValueError,
     "LBFGS doesn't support per-parameter options"),
])
def test_refusals(make, error, message):
    with pytest.raises(error) as caught:
        make(Parameter(torch.ones(2)))
    assert message in str(caught.value)


def test_repr():
    assert repr(torch.optim.SGD([Parameter(torch.ones(1))], lr=0.5)) == """SGD (
Parameter Group 0
    dampening: 0
    differentiable: False
    foreach: None
    fused: None
    lr: 0.5
    maximize: False
    momentum: 0
    nesterov: False
    weight_decay: 0
)"""


def test_named_parameters():
    a, b = Parameter(torch.ones(1)), Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([("a", a), ("b", b)], lr=1.0)
    assert optimizer.param_groups[0]["param_names"] == ["a", "b"] and optimizer.param_groups[0]["params"][1] is b
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    with pytest.raises(ValueError, match="Some param names are missing"):
        torch.optim.SGD([("a", a), b])


def test_hooks():
    p = Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([p], lr=1.0)
    p.grad = torch.ones(1)
    calls = []
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: calls.append("pre"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: calls.append("post"))
    everywhere = torch.optim.optimizer.register_optimizer_step_pre_hook(lambda o, a, k: calls.append("global"))
    optimizer.step()
    assert calls == ["global", "pre", "post"]
    before.remove()
    everywhere.remove()
    optimizer.step()
    assert calls == ["global", "pre", "post", "post"]
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: calls.append(state.pop("more")))
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert calls[-1] == 1 and state["more"] == 1


def test_closure_runs_with_gradients_and_its_loss_comes_back():
    p = Parameter(torch.tensor([3.0]))
    optimizer = torch.optim.SGD([p], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss
    with torch.no_grad():
        assert optimizer.step(closure).item() == 9
    assert p.item() == 0


def test_an_optimizer_of_a_program():
    class Sign(torch.optim.Optimizer):
        def __init__(self, params, lr=0.1):
            super().__init__(params, dict(lr=lr))

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"] = 0
                    state["step"] += 1
                    p.add_(p.grad.sign(), alpha=-group["lr"])
    p = Parameter(torch.zeros(2))
    optimizer = Sign([p])
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for _ in range(2):
        p.grad = torch.tensor([3.0, -3.0])
        optimizer.step()
        schedule.step()
    assert p.tolist() == pytest.approx([-0.15, 0.15]) and optimizer.state_dict()["state"] == {0: {"step": 2}}


def test_subclass_of_a_built_in_optimizer():
    class Decayed(torch.optim.Adam):
        def step(self, closure=None):
            with torch.no_grad():
                for group in self.param_groups:
                    for p in group["params"]:
                        p.mul_(0.5)
                        self.state[p]["count"] = self.state[p].get("count", 0) + 1
            return super().step(closure)
    p = Parameter(torch.ones(1))
    optimizer = Decayed([p], lr=0.1)
    for _ in range(3):
        p.grad = torch.ones(1)
        optimizer.step()
    assert p.item() == pytest.approx(((1 / 2 - 0.1) / 2 - 0.1) / 2 - 0.1, rel=1e-5)
    assert optimizer.state[p]["count"] == 3 and optimizer.state[p]["step"].item() == 3


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_lbfgs_on_a_plane(line_search, slope):
    """Where its divisions are by 0, as IEEE 754 has them."""
    p = Parameter(torch.ones(2))
    optimizer = torch.optim.LBFGS([p], tolerance_grad=-1.0, max_iter=3, line_search_fn=line_search)

    def closure():
        optimizer.zero_grad()
        loss = (p * slope).sum()
        loss.backward()
        return loss
    assert optimizer.step(closure).item() == 2 * slope
    assert (p.detach() < 1).all() if slope else p.tolist() == [1, 1]


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
def test_lbfgs_finds_the_minimum(line_search):
    p = Parameter(torch.tensor([-1.5, 2.0], dtype=torch.float64))
    scale = torch.tensor([[3.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    optimizer = torch.optim.LBFGS([p], lr=1 if line_search else 0.3, max_iter=50, line_search_fn=line_search)

    def closure():
        optimizer.zero_grad()
        loss = (p @ scale @ p) + (p - 1).pow(4).sum()
        loss.backward()
        return loss
    first = optimizer.step(closure)
    assert first.item() == pytest.approx(1.5 * 1.5 * 3 - 2 * 0.5 * 3 + 4 + 2.5**4 + 1)
    for _ in range(4):
        optimizer.step(closure)
    closure()
    assert p.grad.abs().max().item() < 1e-3
    if line_search:  # Rosenbrock's valley
        q = Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
        optimizer = torch.optim.LBFGS([q], max_iter=200, line_search_fn=line_search)

        def valley():
            optimizer.zero_grad()
            loss = 100 * (q[1] - q[0] ** 2) ** 2 + (1 - q[0]) ** 2
            loss.backward()
            return loss
        optimizer.step(valley)
        assert q.tolist() == pytest.approx([1, 1], abs=1e-3)


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return [copied(v) for v in value] if isinstance(value, list) else value


def everything(params, optimizer):
    states = optimizer.state_dict()["state"]
    return flat(params), {key: {name: copied(v) for name, v in state.items()} for key, state in states.items()}


@pytest.mark.parametrize("line_search", [None, "strong_wolfe"])
@pytest.mark.parametrize("warm", [0, 2])
def test_lbfgs_steps_wholly_or_not(line_search, warm):
    p = Parameter(torch.tensor([-1.2, 1.0], dtype=torch.float64))
    optimizer = torch.optim.LBFGS([p], lr=1e-2, max_iter=4, history_size=2, line_search_fn=line_search)
    evaluations_left = -1

    def closure():
        nonlocal evaluations_left
        if evaluations_left == 0:
            raise KeyboardInterrupt
        evaluations_left -= 1
        optimizer.zero_grad()
        loss = 100 * (p[1] - p[0] ** 2) ** 2 + (1 - p[0]) ** 2
        loss.backward()
        return loss
    for _ in range(warm):
        optimizer.step(closure)
    before = everything([p], optimizer)
    for count in range(3):
        evaluations_left = count
        with pytest.raises(KeyboardInterrupt):
            optimizer.step(closure)
        assert everything([p], optimizer) == before
    evaluations_left = -1
    optimizer.step(closure)
    assert everything([p], optimizer) != before


# A parameter of the second group has another shape than its gradient, which is found when the first could have been stepped.
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("warm", [0, 2])
def test_steps_wholly_or_not(name, warm):
    params = parameters(torch.float32)
    optimizer = getattr(torch.optim, name)([{"params": params[:1]}, {"params": params[1:], "lr": 0.5}], lr=0.1)
    run(params, optimizer, range(warm))
    for p in params:
        p.grad = torch.full_like(p, 0.5)
    before = everything(params, optimizer)
    params[-1].data, good = torch.ones(7), params[-1].data
    with pytest.raises((RuntimeError, ValueError)):
        optimizer.step()
    params[-1].data = good
    assert everything(params, optimizer) == before
    optimizer.step()
    assert everything(params, optimizer)[0] != before[0]


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adagrad])
def test_parameters_may_get_their_memory_later(kind):
    net = torch.nn.Linear(2, 1, device="meta")
    optimizer = kind(net.parameters(), lr=0.5)
    torch.__future__.set_swap_module_params_on_conversion(True)  # else the module has new parameters
    try:
        net.to_empty(device="cpu")
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
    for p in net.parameters():
        torch.nn.init.ones_(p).grad = torch.ones_like(p)
    optimizer.step()
    assert net.weight.tolist() == [[0.5, 0.5]]


def test_betas_may_be_tensors_that_change():
    def walk(betas):
        p = Parameter(torch.ones(1))
        optimizer = torch.optim.Adam([p], lr=0.1, betas=betas)
        for step in range(3):
            p.grad = p.detach() * step - 1
            optimizer.step()
            if isinstance(betas[0], torch.Tensor):
                betas[0].fill_(0.5)
            else:
                optimizer.param_groups[0]["betas"] = 0.5, betas[1]
        return p.item()
    assert walk((0.75, 0.875)) == walk((torch.tensor(0.75), torch.tensor(0.875)))


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.Rprop])
def test_an_optimizer_is_gone_with_its_last_name(kind):
    gc.collect()
    gc.disable()
    try:
        p = Parameter(torch.ones(1))
        optimizer = given_grad(kind, p)
        torch.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.step()
        assert len(optimizer.state[p]) and optimizer.state_dict()
        gone = weakref.ref(optimizer)
        del optimizer
        assert gone() is None
    finally:
        gc.enable()


def test_duplicate_parameters_warn():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = Parameter(torch.ones(1))
        torch.optim.Optimizer([p, p], {})
    assert "duplicate parameters" in str(caught[0].message)


@pytest.mark.parametrize("damage, says", [
    (lambda s: s["state"][0].update(step=torch.tensor(float("nan"))), "step of parameter 0"),
    (lambda s: s["state"][1].update(step=float("inf")), "step of parameter 1"),
    (lambda s: s["state"][1].update(step=torch.tensor(-1.0)), "step of parameter 1"),
    (lambda s: s["state"][0].update(step=torch.ones(2)), "step of parameter 0"),
    (lambda s: s["state"].update({7: s["state"][0]}), "parameter 7, which is in no group"),
    (lambda s: s["param_groups"][0].update(params=[0, 0]), "different parameters"),
    (lambda s: s["param_groups"][0].update(params=[0, 9]), "parameter 1, which is in no group"),
    (lambda s: s["param_groups"][0].update(params=[0]), "doesn't match the size"),
])
def test_a_damaged_state_changes_nothing(damage, says):
    params = [torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)]
    adam = torch.optim.Adam(params, lr=0.1)
    (params[0].sum() + params[1].sum()).backward()
    adam.step()
    state = copy.deepcopy(adam.state_dict())
    state["param_groups"][0]["lr"] = 0.7
    damage(state)
    before = repr(adam.state_dict())
    with pytest.raises(ValueError, match=says):
        adam.load_state_dict(state)
    assert repr(adam.state_dict()) == before


MUON = [
    ({},
     [-0.595353, -0.478675, -0.356547, -0.216335, -0.149630, -0.060189,
      0.088215, 0.191161, 0.381999, 0.499053, 0.603897, 0.767727]),
    (dict(nesterov=False, momentum=0.9, adjust_lr_fn="match_rms_adamw"),
     [-0.612830, -0.486985, -0.370972, -0.236602, -0.134625, -0.017758,
      0.108557, 0.231259, 0.371660, 0.485652, 0.619136, 0.744881]),
    (dict(adjust_lr_fn="spectral_unclamped", ns_steps=3, weight_decay=0.0),
     [-0.601291, -0.479748, -0.360501, -0.214141, -0.150913, -0.055660,
      0.089209, 0.194520, 0.383080, 0.494181, 0.612822, 0.766464]),
]


@pytest.mark.parametrize("options, expected", MUON)
def test_muon_is_pytorchs(options, expected):
    p = Parameter((torch.arange(12, dtype=torch.float64).reshape(4, 3) - 5) / 8)
    optimizer = torch.optim.Muon([p], lr=0.02, **options)
    for i in range(4):
        p.grad = torch.sin(p.detach() * (i + 1) * 3 + torch.arange(3, dtype=torch.float64))
        optimizer.step()
    # Directions are bfloat16's in both: a product may round to another neighbour on another CPU.
    assert p.flatten().tolist() == pytest.approx(expected, abs=2e-4)
    assert optimizer.state_dict()["state"][0].keys() == {"momentum_buffer"}
    again = torch.optim.Muon([p])
    again.load_state_dict(optimizer.state_dict())
    assert again.param_groups[0]["lr"] == 0.02 and again.state[p]["momentum_buffer"].equal(optimizer.state[p]["momentum_buffer"])


def test_what_muon_and_sparse_adam_refuse():
    with pytest.raises(ValueError, match="Muon only supports 2D parameters"):
        torch.optim.Muon([Parameter(torch.ones(3))])
    with pytest.raises(ValueError, match="Learning rate should be >= 0"):
        torch.optim.Muon([Parameter(torch.ones(3, 3))], lr=-1.0)
    with pytest.raises(ValueError, match="x is not supported"):
        torch.optim.Muon([Parameter(torch.ones(3, 3))], adjust_lr_fn="x")
    with pytest.raises(NotImplementedError, match="SparseAdam"):
        torch.optim.SparseAdam([Parameter(torch.ones(3))])


EVERY = {
    "Adadelta": {}, "Adagrad": {}, "Adam": dict(amsgrad=True), "AdamW": {}, "Adamax": {}, "ASGD": {}, "NAdam": {}, "RAdam": {},
    "RMSprop": dict(momentum=0.9, centered=True), "Rprop": {}, "SGD": dict(momentum=0.9), "Adafactor": {}, "Muon": {}, "LBFGS": {}}


@pytest.mark.parametrize("name", EVERY)
def test_states_of_other_shapes_and_keys_change_nothing(name):
    def stepped(shape):
        p = Parameter(torch.arange(float(shape[0] * shape[1])).reshape(shape))
        optimizer = getattr(torch.optim, name)([p], lr=0.1, **EVERY[name])

        def closure():
            optimizer.zero_grad()
            loss = (p - 1).pow(2).sum()
            loss.backward()
            return loss
        for _ in range(2):
            optimizer.step(closure)
        return optimizer
    mine, other = stepped((2, 3)), stepped((3, 3))
    before = repr(mine.state_dict())
    with pytest.raises(ValueError, match="load_state_dict: .* of parameter 0: expected shape"):
        mine.load_state_dict(other.state_dict())
    assert repr(mine.state_dict()) == before
    tensors = [k for k, v in mine.state_dict()["state"][0].items() if isinstance(v, torch.Tensor) and v.numel() > 1]
    for key in tensors:
        state = mine.state_dict()
        state["state"][0][key] = "no tensor"
        with pytest.raises(ValueError, match=f"{key} of parameter 0: expected a tensor, got a str"):
            mine.load_state_dict(state)
    for option, wrong in (("lr", "fast"), ("weight_decay", [1]), ("lr", None)):
        if option in mine.param_groups[0]:
            state = mine.state_dict()
            state["param_groups"][0][option] = wrong
            with pytest.raises(ValueError, match=f"expected a number for {option}"):
                mine.load_state_dict(state)
    assert repr(mine.state_dict()) == before
    mine.load_state_dict(stepped((2, 3)).state_dict())


def test_a_state_that_lacks_a_part_changes_nothing():
    p = Parameter(torch.ones(2))
    adam = torch.optim.Adam([p])
    p.grad = torch.ones(2)
    adam.step()
    before, state = repr(adam.state_dict()), adam.state_dict()
    del state["state"][0]["exp_avg_sq"]
    with pytest.raises(ValueError, match=r"has \['exp_avg'\], and lacks \['exp_avg_sq'\]"):
        adam.load_state_dict(state)
    assert repr(adam.state_dict()) == before


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_over_odd_parameters(search):
    """Complex, permuted, frozen, unused ones and one without dimensions; a complex one moves as its two parts do."""
    def solve(loss_of, *params):
        optimizer = torch.optim.LBFGS(params, lr=1 if search else 0.5, max_iter=60, line_search_fn=search, tolerance_grad=1e-10,
                                      tolerance_change=1e-14)

        def closure():
            optimizer.zero_grad()
            loss = loss_of()
            loss.backward()
            return loss
        for _ in range(4):
            optimizer.step(closure)
        return optimizer
    z = torch.zeros(2, dtype=torch.complex128, requires_grad=True)
    parts = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    solve(lambda: (torch.view_as_real(z)[:, 0] - 1).pow(4).sum() + (torch.view_as_real(z)[:, 1] - 2).pow(2).sum(), z)
    solve(lambda: (parts[:, 0] - 1).pow(4).sum() + (parts[:, 1] - 2).pow(2).sum(), parts)
    assert torch.view_as_real(z).equal(parts)
    goal = torch.arange(60, dtype=torch.float64).reshape(3, 4, 5) / 60
    a = torch.zeros(5, 4, 3, dtype=torch.float64).permute(2, 1, 0).requires_grad_()
    frozen, unused = torch.ones(2, dtype=torch.float64), torch.full((2,), 7.0, dtype=torch.float64, requires_grad=True)
    scale = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    w = torch.zeros(2, dtype=torch.complex128, requires_grad=True)
    optimizer = solve(lambda: (a.permute(1, 0, 2) * frozen[0] - goal.permute(1, 0, 2)).pow(2).sum() + (scale - 2).pow(2)
                      + (w - (1 + 2j)).abs().pow(2).sum(), a, frozen, unused, scale, w)
    assert torch.allclose(a, goal, atol=1e-5) and abs(scale.item() - 2) < 1e-5 and not a.is_contiguous()
    assert torch.allclose(w, torch.full_like(w, 1 + 2j), atol=1e-5) and unused.tolist() == [7, 7] and frozen.tolist() == [1, 1]
    again = torch.optim.LBFGS([a, frozen, unused, scale, w])
    again.load_state_dict(optimizer.state_dict())


def test_a_fused_step_checks_the_parameters_that_have_gradients():
    model, here = torch.nn.Linear(2, 2, device="meta"), torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([*model.parameters(), here], lr=1.0, fused=True)
    here.grad = torch.ones(2)
    optimizer.step()
    assert here.tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "NAdam", "RAdam", "Adamax"])
def test_betas_are_two(kind):
    for betas, error in (((0.9,), IndexError), ((0.9, 0.99, 0.9), ValueError), ((0.9, 1.0), ValueError), (3, TypeError)):
        with pytest.raises(error):
            getattr(torch.optim, kind)([torch.ones(1, requires_grad=True)], betas=betas)
