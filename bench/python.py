#!/usr/bin/env python3
"""The Python front beside PyTorch: start-up, overhead of calls, training steps of small networks; prints a table.

    python.py --package build/release/python [--device cpu|cuda] [--threads N] [--processes N]

with a Python that has torch (`./dev bench` has one).  Both sides run bench/python_rows.py in turn; a figure is the
least of their processes.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import least, readable  # noqa: E402


def measure(library, args):
    environment = {"ARGAND_CUDA_COMPILE_MEANWHILE": "0", **os.environ, "ARGAND_NUM_THREADS": str(args.threads)}
    environment["PYTHONPATH"] = str(args.package) if library == "argand" else ""
    command = [sys.executable, str(HERE / "python_rows.py"), library, args.device, str(args.threads), args.rows]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
    for name, code in (("start/import", f"import {library}"),
                       ("start/first_result", f"import {library} as t; (t.ones(8, device='{args.device}') + 1).sum().item()")):
        if not re.search(args.rows, name):
            continue
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            seconds.append(time.perf_counter() - start)
        rows[name] = min(seconds)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rows", default="", help="a regular expression: those whose name it is found in")
    args = parser.parse_args()
    runs = {"argand": [], "torch": []}
    for _ in range(args.processes):
        for library, found in runs.items():
            found.append(measure(library, args))
    ours, theirs = least(runs["argand"]), least(runs["torch"])
    print(f"| row (Python {sys.version.split()[0]}, {args.device}, {args.threads} threads) | Argand | PyTorch | PyTorch / Argand |")
    print("|---|---|---|---|")
    for name in ours:
        print(f"| {name} | {readable(ours[name])} | {readable(theirs[name])} | {theirs[name] / ours[name]:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
