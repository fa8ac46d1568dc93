#!/usr/bin/env python3
"""PyTorch's side of bench/cpu.cpp: the same work under the same names; prints {name: seconds} as JSON."""
import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

import torch_sequences


def median_time(work, budget=1.0):
    for _ in range(3):
        work()
    start = time.perf_counter()
    work()
    once = max(time.perf_counter() - start, 1e-7)
    inner = max(1, int(0.02 / once))
    samples = []
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(samples) < 5:
        start = time.perf_counter()
        for _ in range(inner):
            work()
        samples.append((time.perf_counter() - start) / inner)
        if len(samples) >= 5 and once > 1:
            break
    return statistics.median(samples)


def step(net, optimizer, loss_of):
    def work():
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
    return work


def gradient(f, *inputs):
    inputs = [t.clone().requires_grad_() for t in inputs]
    g = torch.randn_like(inputs[0])
    return lambda: torch.autograd.grad(f(*inputs), inputs, g)


def cnn(n):
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))
    x, y = torch.randn(n, 3, 28, 28), torch.randint(10, (n,))
    return step(net, torch.optim.Adam(net.parameters()), lambda m: F.cross_entropy(m(x), y))


def rows():
    x8, y8 = torch.randn(8), torch.randn(8)
    yield "op/mul8", lambda: x8 * y8
    g8 = torch.randn(8, requires_grad=True)
    yield "op/mul8_grad", lambda: g8 * y8
    linear = nn.Linear(10, 1)
    x, y = torch.randn(32, 10), torch.randn(32, 1)
    yield "step/linear_10_1_b32", step(linear, torch.optim.SGD(linear.parameters(), lr=0.01), lambda m: F.mse_loss(m(x), y))
    mlp = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    xm, ym = torch.randn(64, 64), torch.randint(10, (64,))
    yield "step/mlp_64_32_10_b64", step(mlp, torch.optim.Adam(mlp.parameters()), lambda m: F.cross_entropy(m(xm), ym))
    yield "step/cnn/64", cnn(64)
    yield "step/cnn/512", cnn(512)
    yield from torch_sequences.rows("cpu")
    a, b = torch.randn(16 << 20), torch.randn(16 << 20)
    yield "chain/16M", lambda: ((a * b + a) * 2.0 - b).relu() * a
    m, k = torch.randn(2048, 2048), torch.randn(2048, 2048)
    yield "sgemm/2048", lambda: m.mm(k)
    s = torch.randn(4096, 1024)
    yield "softmax/4096x1024", lambda: s.softmax(1)
    r, rw, rb = torch.randn(8192, 1024), torch.randn(1024), torch.randn(1024)
    yield "layer_norm/8192x1024", lambda: F.layer_norm(r, (1024,), rw, rb)
    yield "layer_norm_grad/8192x1024", gradient(lambda x, w, b: F.layer_norm(x, (1024,), w, b), r, rw, rb)
    i, iw, ib, mean, var = torch.randn(32, 64, 56, 56), torch.randn(64), torch.randn(64), torch.zeros(64), torch.ones(64)
    yield "batch_norm/32x64x56x56", lambda: F.batch_norm(i, mean, var, iw, ib, True)
    yield "batch_norm_grad/32x64x56x56", gradient(lambda x, w, b: F.batch_norm(x, mean, var, w, b, True), i, iw, ib)
    data = TensorDataset(torch.randint(256, (60000, 784)).to(torch.uint8), torch.randint(10, (60000,)))
    loader = DataLoader(data, batch_size=64, shuffle=True)
    yield "data/60000x784_b64", lambda: [None for _ in loader]


def main():
    if len(sys.argv) > 1:
        torch.set_num_threads(int(sys.argv[1]))
    torch.manual_seed(0)
    json.dump({"version": torch.__version__, "threads": torch.get_num_threads(), "seconds": {n: median_time(w) for n, w in rows()}}, sys.stdout)


if __name__ == "__main__":
    main()
