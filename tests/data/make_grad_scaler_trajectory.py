"""Writes grad_scaler_trajectory.txt: what torch.amp.GradScaler("cpu") does, for tests/amp/grad_scaler_test.cpp.

    python tests/data/make_grad_scaler_trajectory.py > tests/data/grad_scaler_trajectory.txt      (needs PyTorch)

    scaler INIT_SCALE GROWTH_FACTOR BACKOFF_FACTOR GROWTH_INTERVAL
    step GRADIENT... ; SCALE GROWTH_TRACKER PARAMETER...

Two float32 parameters of two elements each, 1 at first, are trained by SGD (lr 0.5, momentum 0.9) on loss = sum(parameter *
gradient), scaled; the numbers after ; are what there is after update().
"""
import torch

INF, NAN = float("inf"), float("nan")
STEPS = [
    [1, 2, 3, 4], [0.5, -1, 0, 2], [1, 1, 1, 1], [2, -2, 3, -3],  # grows twice
    [1, 2, 3e38, 4],  # the scaled gradient overflows
    [1, 1, 1, 1], [1, NAN, 1, INF], [INF, 1, 1, 1],
    [0.25, 0.5, 0.75, 1], [1, -1, 1, -1], [0, 0, 0, 0], [1e-30, 1e-38, 1, 2], [3, 1, 4, 1], [-5, 9, -2, 6],
]
SCALERS = [(1024.0, 2.0, 0.5, 2), (3.0, 1.7, 0.3, 1), (1.5e38, 2.0, 0.5, 1)]


def text(values):
    return " ".join(repr(float(v)) for v in values)


for init_scale, growth, backoff, interval in SCALERS:
    scaler = torch.amp.GradScaler("cpu", init_scale, growth, backoff, interval)
    print("scaler", init_scale, growth, backoff, interval)
    params = [torch.ones(2, requires_grad=True) for _ in range(2)]
    optimizer = torch.optim.SGD(params, lr=0.5, momentum=0.9)
    for gradient in STEPS:
        optimizer.zero_grad()
        factors = torch.tensor(gradient).split(2)
        loss = sum((p * f).sum() for p, f in zip(params, factors))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        print("step", text(gradient), ";", repr(scaler.get_scale()), scaler._get_growth_tracker(), text(torch.cat(params).detach()))
