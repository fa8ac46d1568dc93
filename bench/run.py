#!/usr/bin/env python3
"""Runs the benchmarks of one kind of device beside PyTorch, in one go, and prints a table of ratios.

Usage: run.py --build build/release [--threads N] [--device cpu|cuda] [--processes N] [--results FILE]
(with the Python that has torch; `./dev bench` sees to both)

A figure is the median of all processes of its side; the two sides run in turn.  On a shared host the same process may find a
core at its full speed or at half of it.  The rows are kept in bench/results, or added to FILE (bench/results.py).
"""
import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from results import Results, cpu_name  # noqa: E402

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def run_argand(build, device, threads):
    """{row: the seconds of each repetition}"""
    command = [str(build / "bin" / f"bench_{device}"), "--benchmark_format=json", "--benchmark_repetitions=3"]
    command += ["--benchmark_min_time=0.3"] if device == "cpu" else []
    out = subprocess.run(command, check=True, capture_output=True, text=True,
                         env={"ARGAND_CUDA_COMPILE_MEANWHILE": "0", **os.environ, "ARGAND_NUM_THREADS": str(threads)})
    rows = {}
    for b in json.loads(out.stdout)["benchmarks"]:
        if b["run_type"] == "iteration":
            # "name/min_time:0.200/manual_time": what follows the name says how it was measured.
            name = "/".join(part for part in b["run_name"].split("/") if ":" not in part and part != "manual_time")
            rows.setdefault(name, []).append(b["real_time"] * UNITS[b["time_unit"]])
    return rows


def run_torch(device, threads):
    command = [sys.executable, str(HERE / f"torch_{device}.py"), str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def start_seconds(build, device):
    """The times of processes that print one result of the device, ours and PyTorch's in turn."""
    commands = {
        "ours": [str(build / "bin" / "bench_start"), device],
        "theirs": [sys.executable, "-c", f"import torch; print((torch.ones(8, device='{device}') + 1).sum().item())"],
    }
    seconds = {who: [] for who in commands}
    for turn in range(6):
        for who, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if turn > 0:  # the first fills caches
                seconds[who].append(time.perf_counter() - start)
    return seconds["ours"], seconds["theirs"]


def library_bytes(folder):
    """The size of the folder's shared libraries and kernel packs, links counted once."""
    files = [f for pattern in ("lib*.so*", "lib*.pack") for f in Path(folder).glob(pattern)]
    return sum({f.resolve(): f.stat().st_size for f in files}.values())


def readable(seconds):
    for unit in ("s", "ms", "us", "ns"):
        if seconds >= UNITS[unit]:
            return f"{seconds / UNITS[unit]:.3g} {unit}"
    return f"{seconds:.3g} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--processes", type=int, default=3, help="of either side")
    parser.add_argument("--results", type=Path, help="the file that rows are added to, instead of the device's in bench/results")
    options = parser.parse_args()
    peers, runs = [], []
    for _ in range(options.processes):
        peers.append(run_torch(options.device, options.threads))
        runs.append(run_argand(options.build, options.device, options.threads))
    ours = {name: [x for run in runs for x in run[name]] for name in runs[0]}
    theirs = {name: [p["seconds"][name] for p in peers] for name in peers[0]["seconds"]}
    ours["start/first_result"], theirs["start/first_result"] = start_seconds(options.build, options.device)
    device = peers[0].get("device")
    results = Results(device or cpu_name(options.threads))
    print(f"{results.device}, PyTorch {peers[0]['version']}; medians of {options.processes} processes\n")
    print("| row | Argand | PyTorch | PyTorch / Argand |\n|---|---|---|---|")
    for name, samples in theirs.items():
        sides = {"Argand": ours[name], "eager": samples} if name in ours else {"eager": samples}
        results.add("cpp/" + name, "s", sides)
        a, t = (statistics.median(sides[side]) if side in sides else None for side in ("Argand", "eager"))
        print(f"| {name} | {readable(a) if a else 'not measured'} | {readable(t)} | {f'{t / a:.2f}' if a else ''} |")
    small, large = library_bytes(options.build / "lib"), library_bytes(Path(importlib.util.find_spec("torch").origin).parent / "lib")
    results.add("size/libraries", "B", {"Argand": [small], "eager": [large]})
    print(f"| size/libraries | {small / 1e6:.1f} MB | {large / 1e6:.0f} MB | {large / small:.1f} |")
    results.save(options.results)


if __name__ == "__main__":
    main()
