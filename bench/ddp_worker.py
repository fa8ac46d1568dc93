"""One process of bench/ddp.py: trains a row's model, and prints examples per second of the whole world, the best of five runs.

    ddp_worker.py ROW MODE STEPS

In the mode "alone" each of several processes trains a model of its own, and prints its own rate.
"""
import importlib
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ROW, MODE, STEPS = sys.argv[1], sys.argv[2], int(sys.argv[3])
RANK, RANKS = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
ON_GPU = ROW.startswith("gpu")
DEVICE = torch.device("cuda", RANK) if ON_GPU else torch.device("cpu")


def cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))


class GPT2Loss(nn.Module):
    """The loss is part of the forward, so that DataParallel gathers one number of each GPU."""

    def __init__(self):
        super().__init__()
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "python"))
        self.net = importlib.import_module("gpt2").GPT2()

    def forward(self, tokens):
        return self.net.loss(tokens)


class Classifier(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x, y):
        return F.cross_entropy(self.net(x), y)


def row(examples):
    """A model whose forward is a loss, its inputs for this many examples, and how many units an example has."""
    if ROW == "gpu/gpt2":
        return GPT2Loss(), [torch.randint(50257, (examples, 1025))], 1024
    if ROW == "gpu/resnet50":
        models = torch.models if hasattr(torch, "models") else importlib.import_module("torchvision.models")
        x = torch.randn(examples, 3, 224, 224).to(memory_format=torch.channels_last)
        return Classifier(models.resnet50().to(memory_format=torch.channels_last)), [x, torch.randint(1000, (examples,))], 1
    return Classifier(cnn()), [torch.randn(examples, 1, 28, 28), torch.randint(10, (examples,))], 1


def main():
    batch = {"gpu/gpt2": 16, "gpu/resnet50": 128, "gpu/cnn": 4096, "cpu/cnn": 128 // RANKS}[ROW]  # of a GPU, or of a process
    gpus = torch.cuda.device_count() if MODE == "dp" else 1
    if not ON_GPU:
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    torch.manual_seed(0)
    if ON_GPU:
        torch.cuda.set_device(RANK)
    model, inputs, units = row(batch * gpus)
    model, inputs = model.to(DEVICE), [t.to(DEVICE) for t in inputs]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True) if ON_GPU else torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if MODE == "ddp":
        import torch.distributed as dist
        dist.init_process_group("nccl" if ON_GPU else "gloo")
        model = nn.parallel.DistributedDataParallel(model, device_ids=[RANK] if ON_GPU else None)
    elif MODE == "dp":
        model = nn.DataParallel(model)

    def step():
        optimizer.zero_grad()
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=ON_GPU):
            loss = model(*inputs).mean()
        loss.backward()
        optimizer.step()
        return loss

    found = []
    for run in range(6):  # the first fills caches
        if MODE == "ddp":
            dist.barrier()
        begin = time.perf_counter()
        for _ in range(STEPS):
            loss = step()
        loss.item()
        if run:
            found.append(STEPS * batch * gpus * (1 if MODE == "alone" else RANKS) * units / (time.perf_counter() - begin))
    if RANK == 0 or MODE == "alone":
        print(*(f"{rate:.0f}" for rate in found), flush=True)


main()
