"""Collectives of several GPUs over NCCL: how long a group takes to start, all-reduces of four sizes, and a killed rank.

    PYTHONPATH=build/release/python python bench/collectives.py [--ranks 2] [--torch PYTHON_WITH_PYTORCH]

Prints, for Argand and beside it for PyTorch, the seconds of init_process_group with the first all-reduce, and for each size the microseconds
of an all-reduce (the median of three runs of 30) and the bytes a second that each GPU's links carry, as NCCL's tests count them.  These
rows are kept in bench/results, or added to the file that --results names (bench/results.py).  The last row
kills one rank in a sequence of all-reduces: seconds until the last survivor has raised an error that names it.  PyTorch is not asked that:
its survivors wait for the timeout of the group, which is ten minutes.
"""
import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

from results import Results, gpu_name

SIZES = (2**16, 2**20, 2**24, 2**30)


def measure():
    """One rank; the first prints a row."""
    import torch
    import torch.distributed as dist
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    torch.ones(1, device="cuda")
    torch.cuda.synchronize()
    begin = time.perf_counter()
    dist.init_process_group("nccl")
    one = torch.ones(1, device="cuda")
    dist.all_reduce(one)
    one.item()
    found = [[time.perf_counter() - begin]]
    for size in SIZES:
        t = torch.ones(size // 4, device="cuda")
        for _ in range(5):
            dist.all_reduce(t)
        found.append([])
        for _ in range(3):
            torch.cuda.synchronize()
            dist.barrier()
            begin = time.perf_counter()
            for _ in range(30):
                dist.all_reduce(t)
            torch.cuda.synchronize()
            found[-1].append((time.perf_counter() - begin) / 30)
    if rank == 0:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


def lose():
    """One rank of the run that loses the last: prints when it raised, and what."""
    import torch
    import torch.distributed as dist
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    t = torch.ones(2**20, device="cuda")
    try:
        for i in range(1_000_000):
            if i == 200 and rank == ranks - 1:
                torch.cuda.synchronize()
                print(f"{time.time()} killed", flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            dist.all_reduce(t)
    except RuntimeError as error:
        print(f"{time.time()} {type(error).__name__} {'names it' if f'rank {ranks - 1}' in str(error) else str(error)[:200]}", flush=True)
        os._exit(0)


def run(command, what, ranks):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks))
    workers = [subprocess.Popen([*command, os.path.abspath(__file__), "--rank", what], env=dict(env, RANK=str(rank), LOCAL_RANK=str(rank)),
                                stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    return [worker.communicate(timeout=200)[0].strip() for worker in workers]


def cells(found, ranks):
    row = [f"{found[0][0]:7.2f} s"]
    for size, samples in zip(SIZES, found[1:]):
        seconds = statistics.median(samples)
        row.append(f"{seconds * 1e6:9.1f} us {size / seconds / 1e9 * 2 * (ranks - 1) / ranks:6.1f} GB/s")
    return "".join(f"{cell:24}" for cell in row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    parser.add_argument("--rank", choices=("measure", "lose"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        return {"measure": measure, "lose": lose}[arguments.rank]()
    ours = [sys.executable, "-m", "argand"]
    print(f"{'':10}" + "".join(f"{cell:24}" for cell in ["start", *(f"{size >> 10} KiB" for size in SIZES)]))
    sides = {}
    for name, command in [("Argand", ours)] + ([("PyTorch", [arguments.torch])] if arguments.torch else []):
        found = run(command, "measure", arguments.ranks)[0]
        if found:
            sides["eager" if name == "PyTorch" else name] = json.loads(found)
        print(f"{name:10}" + (cells(json.loads(found), arguments.ranks) if found else "failed"), flush=True)
    results = Results(gpu_name(), arguments.torch or sys.executable)
    for i, row in enumerate(["start", *(f"all_reduce_{size >> 10}KiB" for size in SIZES)]):
        results.add(f"ranks/{row}_{arguments.ranks}", "s", {side: found[i] for side, found in sides.items()})
    results.save(arguments.results)
    *survivors, killed = [line.split(" ", 1) for line in run(ours, "lose", arguments.ranks)]
    for rank, survivor in enumerate(survivors):
        print(f"killed rank {arguments.ranks - 1}: rank {rank} " + (
            f"raised after {float(survivor[0]) - float(killed[0]):.2f} s: {survivor[1]}" if len(survivor) == 2 else "raised nothing"))


if __name__ == "__main__":
    main()
