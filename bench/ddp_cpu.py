"""Training the demo's CNN on the CPU: one process with all cores, and one process per core with DistributedDataParallel.

    PYTHONPATH=build/release/python python bench/ddp_cpu.py [--ranks 2] [--torch PYTHON_WITH_PYTORCH]

Prints images per second of the whole world, the best of five runs of 20 steps, for Argand and, beside it, for PyTorch.
"""
import argparse
import os
import socket
import subprocess
import sys
import tempfile

WORKER = """
import os, time, torch
from torch import nn
ranks, batch = int(os.environ["WORLD_SIZE"]), 128
torch.set_num_threads(int(os.environ["THREADS"]))
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))
if ranks > 1:
    import torch.distributed as dist
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(batch // ranks, 1, 28, 28), torch.randint(0, 10, (batch // ranks,))
def step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss
best = 0
for run in range(6):
    if ranks > 1:
        dist.barrier()
    begin = time.perf_counter()
    for _ in range(20):
        loss = step()
    loss.item()
    if run:
        best = max(best, 20 * batch / (time.perf_counter() - begin))
if int(os.environ["RANK"]) == 0:
    print(f"{best:.0f}")
"""


def images_per_second(command, ranks, threads):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks), THREADS=str(threads),
               OMP_NUM_THREADS=str(threads))
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(WORKER)
        script.flush()
        workers = [subprocess.Popen([*command, script.name], env=dict(env, RANK=str(rank)), stdout=subprocess.PIPE, text=True)
                   for rank in range(ranks)]
        outputs = [worker.stdout.read() for worker in workers]
        if any(worker.wait() for worker in workers):
            raise SystemExit("a worker failed")
    return float(outputs[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    arguments = parser.parse_args()
    rows = [("Argand", [sys.executable, "-m", "argand"])]
    if arguments.torch:
        rows.append(("PyTorch", [arguments.torch]))
    print(f"images per second              one process, {arguments.ranks} threads   {arguments.ranks} ranks of one thread")
    for name, command in rows:
        one, several = images_per_second(command, 1, arguments.ranks), images_per_second(command, arguments.ranks, 1)
        print(f"{name:30} {one:22.0f} {several:26.0f}  ({several / one:.2f})")


if __name__ == "__main__":
    main()
