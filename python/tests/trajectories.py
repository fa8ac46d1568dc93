"""Reads tests/data/optim_trajectories.txt: what PyTorch's optimizers and schedules computed (see the script beside it)."""
import pathlib

FLAGS = ("nesterov", "maximize", "amsgrad", "centered", "decoupled_weight_decay", "three_phase", "cycle_momentum")
INTEGERS = ("step_size", "T_max", "T_0", "T_mult", "total_iters", "total_steps", "step_size_up", "step_size_down", "patience",
            "cooldown")
PATH = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "optim_trajectories.txt"


def _value(key, text):
    if key in FLAGS:
        return text in ("1", "True")
    if key in INTEGERS:
        return int(text)
    if key == "milestones":
        return [int(v) for v in text.split(",")]
    if key == "metric":
        return [float(v) for v in text.split(",")]
    return text if key in ("mode", "threshold_mode", "of") else float(text)


def _options(words):
    options = {}
    for word in words:
        key, text = word.split("=")
        options[key] = _value(key, text)
    if "beta1" in options:
        options["betas"] = options.pop("beta1"), options.pop("beta2")
    return options


def read():
    """(starts, {(step, parameter): gradient}, [(name, options, options of a second group or None, [values after a step])],
    [(name, options, [rates of two groups])])"""
    starts, grads, optimizers, schedules = [], {}, [], []
    for line in PATH.read_text().splitlines():
        kind, *words = line.split()
        if kind == "start":
            starts.append([float(w) for w in words])
        elif kind == "grad":
            grads[int(words[0]), int(words[1])] = [float(w) for w in words[2:]]
        elif kind == "optimizer":
            at = words.index(";") if ";" in words else None
            second = None if at is None else _options(words[at + 1:])
            first = _options(words[1:at])
            if second and "betas" not in second and "betas" in first:
                second["betas"] = first["betas"]
            optimizers.append((words[0], first, second, []))
        elif kind == "after":
            optimizers[-1][3].append([float(w) for w in words])
        elif kind == "scheduler":
            schedules.append((words[0], _options(words[1:])))
        elif kind == "rates":
            values = [float(w) for w in words]
            schedules[-1] += (list(zip(values[::2], values[1::2])),)
    return starts, grads, optimizers, schedules
