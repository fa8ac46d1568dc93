#!/usr/bin/env python3
"""Programs of several processes, unmodified, by both libraries in turn: do they print the same?

    distributed.py [--verbose] [NAME...]

The programs stand in distributed/: those of PyTorch's pages and examples in our words, and users of accelerate, Lightning,
transformers, torchmetrics and torch_geometric.  All begin with the same random numbers.  Ours run by `python -m argand`.  What each
rank prints must be the same, its figures to LIMIT.  Programs whose package is not installed, or which PyTorch itself cannot run here,
are counted as left out, with the reason.  Last `N passed, N failed`.  Without PyTorch nothing is done, with exit status 77.
"""
import argparse
import importlib.util
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAUNCHED = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
# name: the package, what stands before the program, its environment, how often it is started
PROGRAMS = {
    "snapshots": ("torch", LAUNCHED, {}, 2),
    "spawned": ("torch", [], {}, 1),
    "basics": ("torch", [], {}, 1),
    "with_accelerate": ("accelerate", LAUNCHED, {}, 1),
    "with_lightning": ("lightning", LAUNCHED, {}, 1),
    "with_lightning, which starts the ranks": ("lightning", [], {}, 1),
    "with_lightning, which spawns the ranks": ("lightning", [], {"STRATEGY": "ddp_spawn"}, 1),
    "with_transformers": ("transformers", LAUNCHED, {}, 1),
    "with_torchmetrics": ("torchmetrics", LAUNCHED, {}, 1),
    "with_torch_geometric": ("torch_geometric", LAUNCHED, {}, 1),
}
LIMIT = 2e-4
LONGEST = 300  # seconds
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


class Failed(Exception):
    """A program did not end well; its last words."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def lines_of(name, begin):
    """What all ranks print, sorted."""
    _, before, more, times = PROGRAMS[name]
    program = Path(__file__).parent / "distributed" / (name.partition(",")[0] + ".py")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, OMP_NUM_THREADS="1", FREE_PORT=free_port(), **more)
        for _ in range(times):
            try:
                ended = subprocess.run([*begin, *before, str(program), folder], env=environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, timeout=LONGEST)
            except subprocess.TimeoutExpired:
                raise Failed(f"not ended after {LONGEST} s") from None
            if ended.returncode != 0:
                raise Failed(ended.stderr[-3000:])
            lines += [line for line in ended.stdout.splitlines() if line.startswith("[") or line and not before]
    return sorted(lines)


def apart(theirs, ours):
    """How far the figures of two lines are apart; infinite where the words differ."""
    if NUMBER.sub("#", theirs) != NUMBER.sub("#", ours):
        return float("inf")
    return max((abs(float(a) - float(b)) / max(1.0, abs(float(a))) for a, b in zip(NUMBER.findall(theirs), NUMBER.findall(ours))), default=0.0)


def difference(theirs, ours):
    """A sentence, or None; and how far the figures are apart."""
    if len(theirs) != len(ours):
        return f"{len(ours)} lines, PyTorch has {len(theirs)}", 0.0
    worst = max(zip(theirs, ours), key=lambda both: apart(*both))
    if apart(*worst) <= LIMIT:
        return None, apart(*worst)
    return f"PyTorch: {worst[0]}\n  ours:    {worst[1]}", apart(*worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verbose", action="store_true", help="show what a program that failed printed last")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    if not importlib.util.find_spec("torch"):
        other = os.environ.pop("ARGAND_TORCH_PYTHON", None)  # popped: tried once
        if other:
            os.execv(other, [other, *sys.argv])
        print("distributed: skipped, because this Python has no PyTorch (ARGAND_TORCH_PYTHON may name one that has)")
        return 77
    left_out = passed = failed = 0
    for name in [n for n in PROGRAMS if not args.names or n in args.names or n.partition(",")[0] in args.names]:
        if not importlib.util.find_spec(PROGRAMS[name][0]):
            print(f"{name}: left out, because {PROGRAMS[name][0]} is not installed")
            left_out += 1
            continue
        begin = time.time()
        try:
            theirs = lines_of(name, [sys.executable])
        except Failed as error:
            print(f"{name}: left out, because PyTorch fails" + (f":\n{error}" if args.verbose else ""))
            left_out += 1
            continue
        between = time.time()
        try:
            note, far = difference(theirs, lines_of(name, [sys.executable, "-m", "argand"]))
        except Failed as error:
            note, far = "it ended with an error" + (f":\n{error}" if args.verbose else ""), 0.0
        failed, passed = failed + (note is not None), passed + (note is None)
        print(f"{name}: FAILED: {note}" if note else
              f"{name}: {len(theirs)} lines, figures {far:.0e} apart; {time.time() - between:.0f} s (PyTorch {between - begin:.0f})", flush=True)
    print(f"{left_out} left out")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
