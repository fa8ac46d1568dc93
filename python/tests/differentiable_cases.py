"""Steps of differentiable optimizers, for either library: `python differentiable_cases.py` with PyTorch writes recorded/differentiable_optim.json."""
import json
import pathlib

PATH = pathlib.Path(__file__).parent / "recorded" / "differentiable_optim.json"

# (optimizer, options, those that gradients go to besides the start and the data)
CASES = [
    ("SGD", {"lr": 0.1, "weight_decay": 0.2}, ["lr", "weight_decay"]),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}, ["lr"]),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}, []),
    ("Adam", {"lr": 0.1, "weight_decay": 0.2}, ["lr", "weight_decay"]),
    ("Adam", {"lr": 0.1, "amsgrad": True, "betas": (0.7, 0.8), "maximize": True}, ["lr", "betas"]),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.2, "betas": (0.8, 0.9)}, ["lr", "weight_decay", "betas"]),
    ("Adadelta", {"lr": 0.7, "rho": 0.8, "weight_decay": 0.1}, []),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.3}, []),
    ("Adamax", {"lr": 0.1, "betas": (0.7, 0.8), "weight_decay": 0.1, "maximize": True}, []),
    ("ASGD", {"lr": 0.1, "lambd": 0.1, "t0": 1, "weight_decay": 0.1}, []),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1}, []),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}, []),
    ("RAdam", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1}, []),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}, []),
    ("RMSprop", {"lr": 0.1, "weight_decay": 0.1, "momentum": 0.8}, []),
    ("RMSprop", {"lr": 0.1, "alpha": 0.7, "centered": True, "maximize": True}, []),
    ("Rprop", {"lr": 0.1}, []),
]
STEPS = 8  # RAdam begins to adapt at the sixth


def walk(torch, name, options, hyper):
    """The parameters, and the gradients of what became of them: to the start, to the data of all steps, to options."""
    def leaf(value):
        return torch.tensor(value, dtype=torch.float64, requires_grad=True)
    leaves = {key: tuple(map(leaf, options[key])) if key == "betas" else leaf(options[key]) for key in hyper}
    start, data = leaf([0.5, -1.5, 2.0]), leaf([[(7 * i + 3 * j) % 5 - 1.7 for j in range(3)] for i in range(STEPS)])
    p = start.clone()
    optimizer = getattr(torch.optim, name)([p], **{**options, **leaves}, differentiable=True)
    for row in data:
        at = p.clone()  # the step writes to p, and the gradient's graph needs what was there
        p.grad, = torch.autograd.grad(((at - row) ** 2).sum(), at, create_graph=True)
        optimizer.step()
        state = optimizer.state[p]
        for key, value in list(state.items()):  # PyTorch's next step would write to what backward reads
            if isinstance(value, torch.Tensor) and key != "step":
                state[key] = value.clone()
    wanted = [start, data] + [leaf for key in hyper for leaf in (leaves[key] if key == "betas" else [leaves[key]])]
    grads = torch.autograd.grad((p * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)).sum(), wanted)
    return [p.detach().tolist()] + [g.flatten().tolist() for g in grads]


def walks(torch):
    """All cases, with states of float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)  # the counts of steps, too
    try:
        return [walk(torch, *case) for case in CASES]
    finally:
        torch.set_default_dtype(before)


if __name__ == "__main__":
    import torch
    PATH.write_text(json.dumps(walks(torch), indent=0).replace("\n", "") + "\n")
