#!/usr/bin/env python3
"""PyTorch's side of bench/cuda.cpp: the same work under the same names; prints {name: seconds} as JSON."""
import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_sequences


def median_time(work, repeats, budget=0.6):
    for _ in range(20):
        work()
    torch.cuda.synchronize()
    samples = []
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(samples) < 5:
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        torch.cuda.synchronize()
        samples.append((time.perf_counter() - start) / repeats)
    return statistics.median(samples)


def random(*sizes):
    return torch.randn(*sizes, device="cuda")


def step(net, optimizer, loss_of):
    def work():
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
    return work


def cnn(n):
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    x, y = random(n, 3, 28, 28), torch.randint(10, (n,), device="cuda")
    return step(net, torch.optim.Adam(net.parameters()), lambda m: F.cross_entropy(m(x), y))


def adam():
    shapes, width_in = [(64, 3, 7, 7)], 64
    for w, depth in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(depth):
            shapes += [(w, width_in, 1, 1), (w, w, 3, 3), (4 * w, w, 1, 1)] + ([(4 * w, width_in, 1, 1)] if block == 0 else [])
            shapes += [(c,) for c in (w, w, 4 * w) for _ in range(2)]
            width_in = 4 * w
    parameters = [random(*s).requires_grad_() for s in shapes + [(1000, 2048), (1000,)]]
    for p in parameters:
        p.grad = torch.randn_like(p)
    return torch.optim.Adam(parameters, fused=True).step


def rows():
    x8, y8 = random(8), random(8)
    yield "op/mul8", 1000, lambda: x8 * y8
    linear = nn.Linear(10, 1).cuda()
    x, y = random(32, 10), random(32, 1)
    yield "step/linear_10_1_b32", 100, step(linear, torch.optim.SGD(linear.parameters(), lr=0.01), lambda m: F.mse_loss(m(x), y))
    mlp = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).cuda()
    xm, ym = random(64, 64), torch.randint(10, (64,), device="cuda")
    yield "step/mlp_64_32_10_b64", 100, step(mlp, torch.optim.Adam(mlp.parameters()), lambda m: F.cross_entropy(m(xm), ym))
    yield "step/cnn/64", 20, cnn(64)
    yield "step/cnn/4096", 20, cnn(4096)
    for name, work in torch_sequences.rows("cuda"):
        yield name, 10, work
    cx, cw, cg = random(4096, 16, 14, 14), random(32, 16, 3, 3), random(4096, 32, 14, 14)

    def conv_grad(*mask):
        return torch.ops.aten.convolution_backward(cg, cx, cw, [32] if mask[2] else None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)
    yield "cnn_part/conv_forward", 10, lambda: F.conv2d(cx, cw, padding=1)
    yield "cnn_part/conv_input_grad", 10, lambda: conv_grad(True, False, False)
    yield "cnn_part/conv_weight_grad", 10, lambda: conv_grad(False, True, False)
    yield "cnn_part/conv_bias_grad", 10, lambda: cg.sum((0, 2, 3))
    yield "cnn_part/conv_parameter_grads", 10, lambda: conv_grad(False, True, True)
    yield "cnn_part/max_pool", 10, lambda: F.max_pool2d(cg, 2)
    px, pg = cg.clone().requires_grad_(), random(4096, 32, 7, 7)

    def pool():
        px.grad = None
        F.max_pool2d(px, 2).backward(pg)
    yield "cnn_part/max_pool_and_backward", 10, pool
    yield "cnn_part/relu", 10, lambda: cg.relu()
    for suffix, form in (("", torch.contiguous_format), ("_channels_last", torch.channels_last)):
        rx, rg = (random(64, 64, 56, 56).bfloat16().contiguous(memory_format=form) for _ in range(2))
        rw, rb = random(64, 64, 3, 3).bfloat16().contiguous(memory_format=form), random(64).bfloat16()
        yield "conv_bias_relu/64x64x56_bf16" + suffix, 10, lambda: F.conv2d(rx, rw, rb, padding=1).relu_()
        yield "conv_grads/64x64x56_bf16" + suffix, 10, lambda: torch.ops.aten.convolution_backward(
            rg, rx, rw, [64], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, (True, True, True))
    dx, dw, dg = random(64, 64, 56, 56), random(64, 64, 3, 3), random(64, 64, 56, 56)
    yield "conv_input_grad/64x64x56_fp32", 10, lambda: torch.ops.aten.convolution_backward(
        dg, dx, dw, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, (True, False, False))
    lx, lw, lb = random(8192, 4096).bfloat16(), random(4096, 4096).bfloat16(), random(4096).bfloat16()
    yield "linear_relu/8192x4096_bf16", 10, lambda: F.linear(lx, lw, lb).relu_()
    a, b = random(64 << 20), random(64 << 20)
    yield "chain/64M", 10, lambda: ((a * b + a) * 2.0 - b).relu() * a
    m, w, bias = random(8192, 8192), random(8192), random(8192)
    yield "softmax/8192x8192", 10, lambda: m.softmax(1)
    yield "layer_norm/8192x8192", 10, lambda: F.layer_norm(m, (8192,), w, bias)
    yield "transpose/8192x8192", 10, lambda: m.t().contiguous()
    yield "sum/whole", 10, lambda: m.sum()
    yield "sum/dim0", 10, lambda: m.sum(0)
    yield "sum/dim1", 10, lambda: m.sum(1)
    yield "cumsum/dim1", 10, lambda: m.cumsum(1)
    yield "topk/50_of_8192x8192", 10, lambda: m.topk(50, 1)
    keys = random(64 << 20)
    yield "sort/64M", 2, lambda: keys.sort()
    logits, target = random(8192, 50304).bfloat16().requires_grad_(), torch.randint(50304, (8192,), device="cuda")

    def cross_entropy():
        logits.grad = None
        F.cross_entropy(logits, target).backward()
    yield "cross_entropy/8192x50304_bf16", 5, cross_entropy
    ha, hb = random(8192, 8192).bfloat16(), random(8192, 8192).bfloat16()
    yield "matmul/8192_bf16", 5, lambda: ha.mm(hb)
    fa, fb = random(8192, 8192), random(8192, 8192)
    yield "matmul/8192_fp32", 5, lambda: fa.mm(fb)
    torch.backends.cuda.matmul.allow_tf32 = True
    yield "matmul/8192_tf32", 5, lambda: fa.mm(fb)
    torch.backends.cuda.matmul.allow_tf32 = False
    table, index = random(50304, 768), torch.randint(50304, (8192,), device="cuda")
    yield "embedding/8192_of_50304x768", 50, lambda: F.embedding(index, table)
    yield "adam/resnet50", 20, adam()
    host = torch.randn(256 << 20)
    yield "copy/pageable_1GiB", 1, lambda: host.cuda()
    pinned = host.pin_memory()
    yield "copy/pinned_1GiB", 1, lambda: pinned.cuda()


def main():
    torch.manual_seed(0)
    seconds = {name: median_time(work, repeats) for name, repeats, work in rows()}
    json.dump({"version": torch.__version__, "device": torch.cuda.get_device_name(), "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    main()
