"""Training on one and on several GPUs, or with one and several processes of the CPU.

    PYTHONPATH=build/release/python python bench/ddp.py [--ranks 2] [--torch PYTHON_WITH_PYTORCH] [--rows gpu/gpt2,...]

Prints examples (of GPT-2: tokens) per second of the whole world, the median of five runs, for Argand and, beside it, for
PyTorch: of one GPU, of nn.DataParallel over all, of as many processes as GPUs that train models of their own at the same
time ("alone", counted at the speed of the slowest: what DDP would reach if it cost nothing), and of
DistributedDataParallel, each also as a share of as many times the one.  On the CPU the one process has as many threads as
there are ranks, and the same batch.  The rows are kept in bench/results, or added to the file that --results names
(bench/results.py).
"""
import argparse
import os
import socket
import statistics
import subprocess
import sys
from pathlib import Path

from results import Results, cpu_name, gpu_name

WORKER = str(Path(__file__).with_name("ddp_worker.py"))
STEPS = {"gpu/gpt2": 20, "gpu/resnet50": 20, "gpu/cnn": 100, "cpu/cnn": 20}


def per_second(command, row, mode, ranks, threads):
    """The rate of each run, or None if one of the processes failed."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks), OMP_NUM_THREADS=str(threads))
    workers = [subprocess.Popen([*command, WORKER, row, mode, str(STEPS[row])], env=dict(env, RANK=str(rank), LOCAL_RANK=str(rank)),
                                stdout=subprocess.PIPE, text=True) for rank in range(ranks)]
    outputs = [worker.stdout.read() for worker in workers]
    if any(worker.wait() for worker in workers):
        return None
    rates = [[float(rate) for rate in output.splitlines()[-1].split()] for output in outputs if output]
    return [min(of_run) * (ranks if mode == "alone" else 1) for of_run in zip(*rates)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--torch", help="a Python that has PyTorch")
    parser.add_argument("--rows", default="cpu/cnn", help="of " + ", ".join(STEPS))
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    arguments = parser.parse_args()
    ranks = arguments.ranks
    libraries = [("Argand", [sys.executable, "-m", "argand"])]
    if arguments.torch:
        libraries.append(("PyTorch", [arguments.torch]))
    print(f"{'row':14}{'library':10}{'mode':16}{'per second':>14}{'share':>8}")
    kept = {}
    for row in arguments.rows.split(","):
        on_gpu = row.startswith("gpu")
        results = kept.setdefault(on_gpu, Results(gpu_name() if on_gpu else cpu_name(ranks), arguments.torch or sys.executable))
        modes = [("one", 1, 4 if on_gpu else ranks), ("ddp", ranks, 4 if on_gpu else 1)]
        if on_gpu:
            modes[1:1] = [("dp", 1, 4), ("alone", ranks, 4)]
        rates = {mode: {} for mode, _, _ in modes}
        for name, command in libraries:
            for mode, processes, threads in modes:
                found = per_second(command, row, mode, processes, threads)
                share = "-"
                if found:
                    rates[mode]["eager" if name == "PyTorch" else name] = found
                    one = rates["one"].get("eager" if name == "PyTorch" else name)
                    share = f"{statistics.median(found) / statistics.median(one) / (ranks if on_gpu else 1):.3f}" if one else "-"
                print(f"{row:14}{name:10}{mode:16}{f'{statistics.median(found):.0f}' if found else 'failed':>14}{share:>8}", flush=True)
        for mode, sides in rates.items():
            of = "one" if mode == "one" else f"{mode}_{ranks}"
            results.add(f"ranks/{row.split('/')[1]}_{of}", "examples/s", sides)
    for results in kept.values():
        results.save(arguments.results)


if __name__ == "__main__":
    main()
