"""Schedules: rates recorded from PyTorch, state dicts, momenta, refusals; and the same programs run by PyTorch, if it is there."""
import json
import math
import os
import subprocess
import sys
import textwrap
import warnings

import argand as torch
import pytest
from argand.nn.parameter import Parameter
from argand.optim import lr_scheduler
from trajectories import read

SCHEDULES = read()[3]


def optimizer(kind="SGD", **options):
    groups = [{"params": [Parameter(torch.zeros(1))], "lr": 0.5}, {"params": [Parameter(torch.zeros(1))], "lr": 0.125}]
    return getattr(torch.optim, kind)(groups, lr=1.0, **options)


def make(name, options, sgd):
    options = {k: v for k, v in options.items() if k != "metric"}
    of = options.pop("of", None)
    if of == "power_and_inverse":
        options["lr_lambda"] = [lambda t: 0.9**t, lambda t: 1 / (1 + t)]
    elif of == "linear_exponential_step":
        return lr_scheduler.SequentialLR(
            sgd, [lr_scheduler.LinearLR(sgd, 0.1, total_iters=4), lr_scheduler.ExponentialLR(sgd, 0.8),
                  lr_scheduler.StepLR(sgd, 3, 0.5)], [4, 11])
    elif name in ("OneCycleLR", "CyclicLR"):
        options["cycle_momentum"] = False
    return getattr(lr_scheduler, name)(sgd, **options)


def rates(sgd):
    return tuple(g["lr"] for g in sgd.param_groups)


@pytest.mark.parametrize("name,options,expected", SCHEDULES, ids=lambda v: str(v)[:60])
def test_recorded_rates(name, options, expected):
    sgd = optimizer()
    schedule = make(name, options, sgd)
    assert rates(sgd) == expected[0]
    for i, after in enumerate(expected[1:]):
        sgd.step()
        schedule.step(*([options["metric"][i]] if "metric" in options else []))
        assert rates(sgd) == after, f"step {i}"
        assert tuple(schedule.get_last_lr()) == after


@pytest.mark.parametrize("name,options,expected", SCHEDULES, ids=lambda v: str(v)[:60])
def test_goes_on_from_its_state_dict(name, options, expected):
    sgd = optimizer()
    schedule = make(name, options, sgd)
    for i in range(len(expected) - 1):
        if i == 6:
            saved = schedule.state_dict(), sgd.state_dict()
            assert "optimizer" not in saved[0]
            sgd = optimizer()
            schedule = make(name, options, sgd)
            schedule.load_state_dict(saved[0])
            sgd.load_state_dict(saved[1])
        sgd.step()
        schedule.step(*([options["metric"][i]] if "metric" in options else []))
        assert rates(sgd) == expected[i + 1], f"step {i}"


@pytest.mark.parametrize("make_schedule,keys", [
    (lambda o: lr_scheduler.StepLR(o, 3), "step_size gamma base_lrs last_epoch _step_count _is_initial "
     "_get_lr_called_within_step _last_lr"),
    (lambda o: lr_scheduler.LambdaLR(o, lambda e: 1), "base_lrs last_epoch _step_count _is_initial "
     "_get_lr_called_within_step _last_lr lr_lambdas"),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4), "T_0 T_i T_mult eta_min T_cur base_lrs last_epoch _step_count "
     "_is_initial _get_lr_called_within_step _last_lr"),
    (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1, cycle_momentum=False), "max_lrs total_size step_ratio mode gamma scale_mode "
     "cycle_momentum base_lrs last_epoch _step_count _is_initial _get_lr_called_within_step _last_lr _scale_fn_custom"),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o), "factor default_min_lr min_lrs patience cooldown eps last_epoch _last_lr "
     "mode_worse mode threshold threshold_mode best cooldown_counter num_bad_epochs"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)], [2]),
     "_milestones last_epoch _last_lr _schedulers"),
    (lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(o), lr_scheduler.ExponentialLR(o, 0.9)]),
     "_last_lr _schedulers"),
])
def test_state_dict_keys(make_schedule, keys):
    assert list(make_schedule(optimizer()).state_dict()) == keys.split()


def test_cycles_of_momentum():
    sgd = optimizer(momentum=0.9)
    schedule = lr_scheduler.OneCycleLR(sgd, 1.0, total_steps=10)
    assert sgd.param_groups[0]["momentum"] == 0.95 and rates(sgd)[0] == pytest.approx(0.04)
    for _ in range(2):
        sgd.step()
        schedule.step()
    assert sgd.param_groups[0]["momentum"] == 0.85 and rates(sgd)[0] == 1.0
    adam = optimizer("Adam")
    lr_scheduler.CyclicLR(adam, 0.1, 1.0, step_size_up=2)
    assert adam.param_groups[1]["betas"] == (0.9, 0.999) and rates(adam) == (0.1, 0.1)


def test_a_schedule_of_a_program():
    class Warm(lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base * min(1, (self.last_epoch + 1) / 4) for base in self.base_lrs]
    sgd = optimizer()
    schedule = Warm(sgd)
    assert rates(sgd) == (0.125, 0.03125) and isinstance(schedule, lr_scheduler._LRScheduler)
    sgd.step()
    schedule.step()
    assert rates(sgd) == (0.25, 0.0625)


def test_tensor_rates_are_written_in_place():
    lr = torch.tensor(1.0)
    sgd = torch.optim.SGD([Parameter(torch.zeros(1))], lr=lr)
    schedule = lr_scheduler.ExponentialLR(sgd, 0.5)
    sgd.step()
    schedule.step()
    assert sgd.param_groups[0]["lr"] is lr and lr.item() == 0.5 and schedule.get_last_lr()[0].item() == 0.5


def test_chained():
    sgd = optimizer()
    schedule = lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(sgd, 0.1, 2), lr_scheduler.ExponentialLR(sgd, 0.9)])
    seen = [rates(sgd)[0]]
    for _ in range(3):
        sgd.step()
        schedule.step()
        seen.append(rates(sgd)[0])
    assert seen == pytest.approx([0.05, 0.045, 0.405, 0.3645])


@pytest.mark.parametrize("call,error,message", [
    (lambda o: lr_scheduler.StepLR(1, 3), TypeError, "int is not an Optimizer"),
    (lambda o: lr_scheduler.LambdaLR(o, [1]), ValueError, "Expected 2 lr_lambdas, but got 1"),
    (lambda o: lr_scheduler.StepLR(o, 3, last_epoch=2), KeyError, "param 'initial_lr' is not specified in param_groups[0]"),
    (lambda o: lr_scheduler.ConstantLR(o, factor=2), ValueError, "expected to be between 0 and 1."),
    (lambda o: lr_scheduler.LinearLR(o, start_factor=0), ValueError, "greater than 0 and less or equal to 1."),
    (lambda o: lr_scheduler.SequentialLR(o, [], []), ValueError, "expects at least one scheduler"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(o)], [1]), ValueError, "to be equal to 1"),
    (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.ConstantLR(optimizer())], []), ValueError, "same optimizer"),
    (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "Expected positive integer T_0, but got 0"),
    (lambda o: lr_scheduler.CyclicLR(o, 0.1, 1, mode="x"), ValueError, "mode is invalid and scale_fn is None"),
    (lambda o: lr_scheduler.CyclicLR(o, [0.1], 1), ValueError, "base_lr has 1 values, param_groups has 2."),
    (lambda o: lr_scheduler.OneCycleLR(o, 1), ValueError, "You must define either total_steps OR"),
    (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0."),
])
def test_refusals(call, error, message):
    with pytest.raises(error) as caught:
        call(optimizer())
    assert message in str(caught.value)


def test_too_many_steps_of_one_cycle():
    sgd = optimizer()
    schedule = lr_scheduler.OneCycleLR(sgd, 1, 2)
    with pytest.raises(ValueError, match="Tried to step 3 times. The specified number of total steps is 2"):
        for _ in range(3):
            sgd.step()
            schedule.step()


def test_warnings():
    def warned(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        return " ".join(str(w.message) for w in caught)
    sgd = optimizer()
    schedule = lr_scheduler.StepLR(sgd, 2)
    assert "Detected call of `lr_scheduler.step()` before `optimizer.step()`" in warned(schedule.step)
    assert "The epoch parameter in `scheduler.step()`" in warned(lambda: schedule.step(3))
    assert "please use `get_last_lr()`" in warned(schedule.get_lr)
    sgd = optimizer()
    schedule = lr_scheduler.StepLR(sgd, 2)
    assert warned(lambda: (sgd.step(), schedule.step())) == ""


# Programs that print rates, for both libraries.
PROGRAMS = [
    "L.CosineAnnealingWarmRestarts(o, 3, 2)", "L.CyclicLR(o, .1, 1, 3, mode='exp_range', gamma=.9)",
    "L.CyclicLR(o, .1, 1, 3, scale_fn=lambda x: .5 ** x, scale_mode='iterations')",
    "L.OneCycleLR(o, [1., 2.], 30, three_phase=True, anneal_strategy='linear')", "L.MultiplicativeLR(o, lambda e: .9)",
    "L.ChainedScheduler([L.LinearLR(o), L.CosineAnnealingLR(o, 5)])",
    "L.SequentialLR(o, [L.SequentialLR(o, [L.LinearLR(o), L.ExponentialLR(o, .5)], [3]), L.CosineAnnealingWarmRestarts(o, 4)], [7])",
    "L.PolynomialLR(o, 6, 2.)",
]
COMMON = textwrap.dedent("""
    import json, sys, warnings
    warnings.simplefilter('ignore')
    sys.path[:0] = json.loads(sys.argv[2])
    torch = __import__(sys.argv[1])
    optim = __import__(sys.argv[1] + '.optim').optim
    L = __import__(sys.argv[1] + '.optim.lr_scheduler').optim.lr_scheduler
    out = []
    for program in json.loads(sys.argv[3]):
        ps = [torch.zeros(1, requires_grad=True) for _ in range(2)]
        o = optim.SGD([{'params': [ps[0]], 'lr': .5}, {'params': [ps[1]], 'lr': .125}], lr=1., momentum=.9)
        s = eval(program)
        for i in range(20):
            out.append([[g['lr'], g['momentum']] for g in o.param_groups])
            o.step()
            s.step()
        if hasattr(s, '_get_closed_form_lr') or 'WarmRestarts' in program[:30]:
            s.step(2)
            out.append([[g['lr'], g['momentum']] for g in o.param_groups])
    print(json.dumps(out))
""")


def python_of_pytorch():
    """A Python that has the real torch: this one, or $ARGAND_TORCH_PYTHON."""
    for python in filter(None, (os.environ.get("ARGAND_TORCH_PYTHON"), sys.executable)):
        if subprocess.run([python, "-c", "import torch; torch.optim"], capture_output=True).returncode == 0:
            return python
    return None


def test_same_rates_as_pytorch():
    reference = python_of_pytorch()
    if reference is None:
        pytest.skip("PyTorch is not installed; ARGAND_TORCH_PYTHON may name a Python that has it")

    def run(python, library, paths):
        command = [python, "-c", COMMON, library, json.dumps(paths), json.dumps(PROGRAMS)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ours, theirs = run(sys.executable, "argand", sys.path), run(reference, "torch", [])
    assert len(ours) == len(theirs) > 100
    assert ours == theirs
    assert not any(math.isnan(v) for step in ours for group in step for v in group)


@pytest.mark.parametrize("make,names", [
    (lambda o, v: lr_scheduler.CyclicLR(o, v, torch.tensor(0.5), base_momentum=0.5, max_momentum=0.9), ["initial_lr"]),
    (lambda o, v: lr_scheduler.OneCycleLR(o, v, 10), ["initial_lr", "max_lr", "min_lr"]),
    (lambda o, v: torch.optim.swa_utils.SWALR(o, v), ["initial_lr", "swa_lr"])])
def test_tensors_that_a_schedule_is_given_may_change(make, names):
    optimizer = torch.optim.SGD([Parameter(torch.ones(1))], lr=torch.tensor(0.1), momentum=0.9)
    given = torch.tensor(0.25)
    schedule = make(optimizer, given)
    before = {name: float(optimizer.param_groups[0][name]) for name in names}
    given.fill_(7.0)
    optimizer.step()
    schedule.step()
    assert {name: float(optimizer.param_groups[0][name]) for name in names} == before


def test_the_amplitude_of_a_cycle_has_pytorchs_names():
    optimizer = torch.optim.SGD([Parameter(torch.ones(1))], lr=0.1, momentum=0.9)
    schedules = [lr_scheduler.CyclicLR(optimizer, 0.1, 0.5, mode=mode, gamma=0.5) for mode in ("triangular", "triangular2", "exp_range")]
    assert [s._scale_fn_ref(3) for s in schedules] == [s.scale_fn(3) for s in schedules] == [1.0, 0.25, 0.125]
    assert "_scale_fn_ref" not in schedules[2].state_dict()
    schedules[0].load_state_dict(schedules[2].state_dict())
    assert schedules[0].scale_fn(3) == 0.125


@pytest.mark.parametrize("name", ["_annealing_cos", "_annealing_linear"])
def test_a_state_of_one_cycle_from_before_2_0(name):
    def rates(old):
        optimizer = torch.optim.SGD([Parameter(torch.ones(1))], lr=0.1, momentum=0.9)
        schedule = lr_scheduler.OneCycleLR(optimizer, 0.5, 8, anneal_strategy=name.removeprefix("_annealing_"))
        if old:
            del schedule._anneal_func_type
            schedule.load_state_dict({**schedule.state_dict(), "anneal_func": getattr(lr_scheduler.OneCycleLR, name)})
        out = []
        for _ in range(6):
            optimizer.step()
            schedule.step()
            out += schedule.get_last_lr()
        return out
    assert rates(True) == rates(False)


@pytest.mark.parametrize("milestone,second,rates", [  # as PyTorch 2.15 has them
    (2, lambda o: torch.optim.swa_utils.SWALR(o, 0.1, 4, "linear"), [0.25, 0.25, 0.25, 0.2125, 0.175, 0.1375]),
    (2, lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.5), [0.25, 0.25, 0.125, 0.0625, 0.03125, 0.015625]),
    (0, lambda o: lr_scheduler.ExponentialLR(o, 0.5), [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625])])
def test_a_schedule_that_begins_at_a_milestone(milestone, second, rates):
    optimizer = torch.optim.SGD([Parameter(torch.ones(1))], lr=0.5)
    schedule = lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, 0.5, 9), second(optimizer)], [milestone])
    found = schedule.get_last_lr()
    for _ in range(5):
        optimizer.step()
        schedule.step()
        found += schedule.get_last_lr()
    assert found == pytest.approx(rates)
