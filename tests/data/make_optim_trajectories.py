"""Writes optim_trajectories.txt: what torch.optim computes, for argand/optim/trajectory_test.cpp.

    python tests/data/make_optim_trajectories.py > tests/data/optim_trajectories.txt      (needs PyTorch)

    start VALUES...                        of one parameter of one dimension; the second never gets a gradient
    grad STEP PARAMETER VALUES...          float64; a parameter without a line has none in that step
    optimizer NAME KEY=VALUE... [; KEY=VALUE... of the second group, which then has all parameters but the first]
    after VALUES...                        all parameters after each step
    scheduler NAME KEY=VALUE... [metric=VALUES,...]
    rates VALUES...                        of both groups (initial rates 0.5 and 0.125) from step 0 on, alternating
"""
import warnings

import torch

STEPS = 8
torch.set_default_dtype(torch.float64)
warnings.simplefilter("ignore")  # a scheduler that steps without its optimizer


def text(values):
    return " ".join(repr(float(v)) for v in values)


generator = torch.Generator().manual_seed(1)
starts = [torch.randn(n, generator=generator) for n in (6, 2, 5)]
grads = {}
for start in starts:
    print("start", text(start))
for step in range(STEPS):
    for i in (0, 2):
        if (step, i) not in ((0, 2), (3, 2), (4, 0)):  # begins later, pauses
            grads[step, i] = torch.randn(len(starts[i]), generator=generator)
            print("grad", step, i, text(grads[step, i]))

FLAGS = ("nesterov", "maximize", "amsgrad", "centered", "decoupled_weight_decay")


def arguments(options):
    out = {k: bool(v) if k in FLAGS else v for k, v in options.items() if k not in ("beta1", "beta2")}
    if "beta1" in options:
        out["betas"] = (options["beta1"], options["beta2"])
    return out


def words(options):
    return " ".join(f"{k}={v!r}" for k, v in options.items())


def optimizer(name, options, second=None):
    params = [s.clone().requires_grad_() for s in starts]
    if second is None:
        made = getattr(torch.optim, name)(params, **arguments(options))
    else:
        made = getattr(torch.optim, name)([{"params": params[:1]}, {"params": params[1:], **arguments({**options, **second})}],
                            **arguments(options))
    print("optimizer", name, words(options) + ("" if second is None else " ; " + words(second)))
    for step in range(STEPS):
        for i, p in enumerate(params):
            p.grad = grads.get((step, i))
        made.step()
        print("after", text(torch.cat(params).tolist()))


optimizer("SGD", {"lr": 0.1})
optimizer("SGD", {"lr": 0.1, "weight_decay": 0.05})
optimizer("SGD", {"lr": 0.1, "momentum": 0.9})
optimizer("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.02})
optimizer("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": 1, "weight_decay": 0.02})
optimizer("SGD", {"lr": 0.1, "momentum": 0.8, "maximize": 1, "weight_decay": 0.02})
optimizer("SGD", {"lr": 0.1, "momentum": 0.8}, {"lr": 0.01, "momentum": 0.0, "weight_decay": 0.1})
for name in ("Adam", "AdamW"):
    optimizer(name, {"lr": 0.05})
    optimizer(name, {"lr": 0.05, "beta1": 0.7, "beta2": 0.95, "eps": 1e-4})
    optimizer(name, {"lr": 0.05, "beta1": 0.0, "beta2": 0.0})
    optimizer(name, {"lr": 0.05, "weight_decay": 0.3})
    optimizer(name, {"lr": 0.05, "weight_decay": 0.3, "amsgrad": 1, "beta1": 0.8, "beta2": 0.5})
    optimizer(name, {"lr": 0.05, "weight_decay": 0.3, "maximize": 1})
    optimizer(name, {"lr": 0.05}, {"lr": 0.2, "weight_decay": 0.5, "amsgrad": 1})
optimizer("RMSprop", {"lr": 0.02})
optimizer("RMSprop", {"lr": 0.02, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1})
optimizer("RMSprop", {"lr": 0.02, "momentum": 0.9})
optimizer("RMSprop", {"lr": 0.02, "centered": 1})
optimizer("RMSprop", {"lr": 0.02, "centered": 1, "momentum": 0.7, "weight_decay": 0.1, "maximize": 1})
optimizer("RMSprop", {"lr": 0.02}, {"lr": 0.1, "momentum": 0.5})
optimizer("Adagrad", {"lr": 0.1})
optimizer("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.3, "eps": 1e-4})
optimizer("Adagrad", {"lr": 0.1, "maximize": 1}, {"lr": 0.3, "weight_decay": 0.2})
optimizer("Adadelta", {"lr": 0.5})
optimizer("Adadelta", {"lr": 0.5, "rho": 0.6, "eps": 1e-3, "weight_decay": 0.1, "maximize": 1})
optimizer("Adadelta", {"lr": 0.5}, {"lr": 0.1, "rho": 0.5})
for name in ("Adamax", "NAdam", "RAdam"):
    optimizer(name, {"lr": 0.05})
    optimizer(name, {"lr": 0.05, "beta1": 0.7, "beta2": 0.6, "eps": 1e-4, "weight_decay": 0.1})
    optimizer(name, {"lr": 0.05, "maximize": 1, "beta1": 0.9, "beta2": 0.8}, {"lr": 0.2, "weight_decay": 0.5})
optimizer("NAdam", {"lr": 0.05, "weight_decay": 0.3, "decoupled_weight_decay": 1, "momentum_decay": 0.1})
optimizer("RAdam", {"lr": 0.05, "weight_decay": 0.3, "decoupled_weight_decay": 1, "beta1": 0.9, "beta2": 0.7})


def scheduler(name, options, steps=24, metric=None, made=None, **more):
    sgd = torch.optim.SGD([{"params": [torch.zeros(1)], "lr": 0.5}, {"params": [torch.zeros(1)], "lr": 0.125}], lr=1.0)
    given = {k: v for k, v in options.items() if k != "of"}
    made = made(sgd) if made else getattr(torch.optim.lr_scheduler, name)(sgd, **given, **more)
    shown = {k: ",".join(map(str, v)) if isinstance(v, list) else v for k, v in options.items()}
    if metric:
        shown["metric"] = ",".join(map(repr, metric))
    print("scheduler", name, " ".join(f"{k}={v}" for k, v in shown.items()))
    rates = [g["lr"] for g in sgd.param_groups]
    for step in range(len(metric) if metric else steps):
        sgd.step()
        made.step(*([metric[step]] if metric else []))
        rates += [g["lr"] for g in sgd.param_groups]
    print("rates", text(rates))


scheduler("StepLR", {"step_size": 5})
scheduler("StepLR", {"step_size": 1, "gamma": 0.9})
scheduler("MultiStepLR", {"milestones": [4, 7, 7, 20], "gamma": 0.3})
scheduler("CosineAnnealingLR", {"T_max": 10, "eta_min": 0.01})
scheduler("CosineAnnealingLR", {"T_max": 24})
scheduler("LinearLR", {})
scheduler("LinearLR", {"start_factor": 1.0, "end_factor": 0.1, "total_iters": 20})
scheduler("OneCycleLR", {"max_lr": 0.8, "total_steps": 25}, cycle_momentum=False)
scheduler("OneCycleLR", {"max_lr": 0.8, "total_steps": 24, "pct_start": 0.0, "div_factor": 4.0, "final_div_factor": 10.0},
          cycle_momentum=False)
scheduler("OneCycleLR", {"max_lr": 0.8, "total_steps": 30, "pct_start": 0.6}, cycle_momentum=False)
scheduler("ExponentialLR", {"gamma": 0.85})
scheduler("PolynomialLR", {})
scheduler("PolynomialLR", {"total_iters": 20, "power": 2.5})
scheduler("CosineAnnealingWarmRestarts", {"T_0": 5})
scheduler("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01})
scheduler("CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 4}, cycle_momentum=False)
scheduler("CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 3, "step_size_down": 5, "mode": "triangular2"},
          cycle_momentum=False)
scheduler("CyclicLR", {"base_lr": 0.1, "max_lr": 0.7, "step_size_up": 5, "mode": "exp_range", "gamma": 0.95},
          cycle_momentum=False)
# Functions and schedulers among the options: the test makes the same by these names.
scheduler("LambdaLR", {"of": "power_and_inverse"}, lr_lambda=[lambda t: 0.9**t, lambda t: 1 / (1 + t)])
scheduler("SequentialLR", {"of": "linear_exponential_step"}, made=lambda sgd: torch.optim.lr_scheduler.SequentialLR(
    sgd, [torch.optim.lr_scheduler.LinearLR(sgd, 0.1, total_iters=4), torch.optim.lr_scheduler.ExponentialLR(sgd, 0.8),
          torch.optim.lr_scheduler.StepLR(sgd, 3, 0.5)], [4, 11]))
LOSSES = [5.0, 4.0, 3.0, 3.0, 2.9999, 3.1, 3.0, 2.0, 2.0, 2.5, float("nan"), 2.1, 1.9999, 1.5, 1.6, 1.7, 1.8, 1.9, 1.4, 1.41]
scheduler("ReduceLROnPlateau", {"patience": 2}, metric=LOSSES)
scheduler("ReduceLROnPlateau", {"mode": "max", "factor": 0.5, "patience": 1}, metric=LOSSES)
scheduler("ReduceLROnPlateau", {"factor": 0.2, "patience": 0, "cooldown": 2, "min_lr": 0.01}, metric=LOSSES)
scheduler("ReduceLROnPlateau", {"patience": 1, "threshold": 0.5, "threshold_mode": "abs", "eps": 0.02}, metric=LOSSES)
scheduler("ReduceLROnPlateau", {"mode": "max", "patience": 1, "threshold": 0.1, "threshold_mode": "abs"},
          metric=[-x for x in LOSSES])
