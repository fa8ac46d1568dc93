"""The first training step in a new process, with no compiled kernels on disk: Argand beside PyTorch on a GPU.

    first_step.py --package build/release/python [--rows REGEX] [--results FILE]

with a Python that has torch and torchvision.  A process makes a network, a batch and an optimizer on the GPU, waits for the device, and
times its first step, and then the tenth; Argand's ARGAND_CACHE_DIR is an empty folder each time.  A figure is the median of three
processes, the two libraries in turn.  The rows are kept in bench/results, or added to FILE (bench/results.py).
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
PROCESSES = 3


def encoder(torch):
    nn = torch.nn
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True), 4).cuda()
    x = torch.randn(16, 64, 256, device="cuda")
    return net, lambda: net(x).square().mean()


def resnet18(torch):
    import torchvision
    net = torchvision.models.resnet18().cuda()
    x, y = torch.randn(16, 3, 224, 224, device="cuda"), torch.randint(1000, (16,), device="cuda")
    return net, lambda: torch.nn.functional.cross_entropy(net(x), y)


def cnn(torch):
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10)).cuda()
    x, y = torch.randn(64, 3, 28, 28, device="cuda"), torch.randint(10, (64,), device="cuda")
    return net, lambda: nn.functional.cross_entropy(net(x), y)


def character_rnn(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = nn.Linear(57 + 128, 128), nn.Linear(57 + 128, 18)

        def forward(self, letters):
            h = torch.zeros(1, 128, device="cuda")
            for letter in letters:
                both = torch.cat([letter, h], 1)
                h, out = torch.tanh(self.hidden(both)), self.out(both)
            return torch.log_softmax(out, 1)
    net, letters, y = Net().cuda(), torch.randn(32, 1, 57, device="cuda"), torch.tensor([3], device="cuda")
    return net, lambda: nn.functional.nll_loss(net(letters), y)


def lstm(torch):
    nn = torch.nn
    net, last = nn.LSTM(128, 256, 2, batch_first=True).cuda(), nn.Linear(256, 10).cuda()
    x, y = torch.randn(32, 50, 128, device="cuda"), torch.randint(10, (32,), device="cuda")
    return nn.ModuleList([net, last]), lambda: nn.functional.cross_entropy(last(net(x)[0][:, -1]), y)


NETS = {f.__name__: f for f in (encoder, resnet18, cnn, character_rnn, lstm)}


def measure(name):
    import torch
    torch.manual_seed(1)
    net, loss_of = NETS[name](torch)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    torch.cuda.synchronize()
    times = []
    for _ in range(10):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        loss.item()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"first": times[0], "tenth": times[-1], "all": sum(times)}))


def run(side, package, name):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, PYTHONPATH=str(package) if side == "Argand" else "", ARGAND_CACHE_DIR=cache)
        command = [sys.executable, *(["-m", "argand"] if side == "Argand" else []), __file__, "--measure", name]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["it ended"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--rows", default="", help="only networks whose names match this regular expression")
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.measure)
    from results import Results, gpu_name
    results, package = Results(gpu_name(), sys.executable), arguments.package.resolve()
    print(f"{'':18}{'Argand: first':>16}{'tenth':>10}{'ten steps':>12}{'PyTorch: first':>16}{'tenth':>10}{'ten steps':>12}")
    for name in NETS:
        if not re.search(arguments.rows, name):
            continue
        found = {side: [] for side in ("Argand", "eager")}
        for _ in range(PROCESSES):
            for side, runs in found.items():
                runs.append(run(side, package, name))
        cells = ""
        for side, runs in found.items():
            good = [r for r in runs if "error" not in r]
            medians = [statistics.median(r[key] for r in good) if good else float("nan") for key in ("first", "tenth", "all")]
            cells += f"{medians[0]:14.3f} s{medians[1] * 1e3:7.1f} ms{medians[2]:10.3f} s"
        print(f"{name:18}{cells}", flush=True)
        errors = {side: r["error"] for side, runs in found.items() for r in runs if "error" in r}
        for text in errors.items():
            print("   ", *text)
        results.add(f"first_step/{name}", "s", {side: [r["first"] for r in runs if "error" not in r] for side, runs in found.items() if any("error" not in r for r in runs)}, errors)
    results.save(arguments.results)


if __name__ == "__main__":
    main()
