"""Writes lbfgs_trajectories.txt: what torch.optim.LBFGS computes, for argand/optim/lbfgs_test.cpp.

    python tests/data/make_lbfgs_trajectories.py > tests/data/lbfgs_trajectories.txt      (needs PyTorch)

    case KEY=VALUE...               of the options
    after LOSS X0 X1 Y EVALUATIONS  what step() returned, the parameters [2] and [], and all evaluations, after each step

of (1 - x0)^2 + 100 (x1 - x0^2)^2 + 10 (y - x1)^2 in float64 from x = (-1.2, 1), y = 0.
"""
import torch

CASES = [{}, {"lr": 0.001, "max_iter": 4}, {"line_search_fn": "strong_wolfe"},
         {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 5},
         {"line_search_fn": "strong_wolfe", "lr": 0.3, "max_iter": 8, "max_eval": 9},
         {"line_search_fn": "strong_wolfe", "tolerance_grad": 1e-2, "tolerance_change": 1e-3}]

for options in CASES:
    print("case", *[f"{k}={v}" for k, v in options.items()])
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    y = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x, y], **options)

    def closure():
        optimizer.zero_grad()
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + 10 * (y - x[1]) ** 2
        loss.backward()
        return loss

    for _ in range(6):
        loss = optimizer.step(closure)
        evaluations = optimizer.state_dict()["state"][0]["func_evals"]
        print("after", *[repr(float(v)) for v in (loss, x[0], x[1], y)], evaluations)
