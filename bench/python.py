#!/usr/bin/env python3
"""The Python front beside PyTorch: start-up, overhead of calls, training steps of networks small and large; prints a table.

    python.py --package build/release/python [--device cpu|cuda] [--threads N] [--processes N] [--rows REGEX] [--results FILE]

with a Python that has torch (`./dev bench` has one).  Both sides run bench/python_rows.py in turn; a figure is the median of
the means of all their processes.  A row that fails says so in its place.  Losses that differ are listed below the table.
Steps of small networks stand beside PyTorch's best: eager, the step captured by hand as a CUDA graph, and torch.compile.
The rows are kept in bench/results, or added to FILE (bench/results.py).
"""
import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from results import Results, cpu_name, gpu_name  # noqa: E402
from run import readable  # noqa: E402


def measure(library, args):
    """{name: what is known of the row}"""
    environment = {"ARGAND_CUDA_COMPILE_MEANWHILE": "0", **os.environ, "ARGAND_NUM_THREADS": str(args.threads)}
    environment["PYTHONPATH"] = str(args.package) if library == "argand" else ""
    rows, begun, ended = {}, "", False
    while not ended:
        command = [sys.executable, str(HERE / "python_rows.py"), library, args.device, "--threads", str(args.threads),
                   "--rows", args.rows, "--after", begun]
        before = begun
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            for line in process.stdout:
                found = json.loads(line)
                begun = found.get("begun", begun)
                if "row" in found:
                    rows[found["row"]] = with_median(found)
                    print(f"{library} {found['row']}: {cell(rows[found['row']])}", file=sys.stderr, flush=True)
        ended = process.returncode == 0
        if not ended and begun == before:
            raise SystemExit(f"python.py: {' '.join(command)} ended with {process.returncode} before any row")
        if not ended and begun not in rows:
            why = signal.Signals(-process.returncode).name if process.returncode < 0 else process.returncode
            rows[begun] = {"row": begun, "error": f"the process ended with {why}"}
    for name, code in (("start/import", f"import {library}"),
                       ("start/first_result", f"import {library} as t; (t.ones(8, device='{args.device}') + 1).sum().item()")):
        if not re.search(args.rows, name):
            continue
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)
            seconds.append(time.perf_counter() - start)
        rows[name] = {"row": name, "samples": seconds[1:]}  # the first fills caches
    return rows


def with_median(found):
    return found if "error" in found else dict(found, seconds=statistics.median(found["samples"]))


def together(runs):
    """Merges the rows of several processes: for each name all samples with their median, or an error if there was one."""
    rows = {}
    for name in runs[0]:
        found = [run[name] for run in runs if name in run]
        rows[name] = next((f for f in found if "error" in f), None) or with_median(dict(found[0], samples=[x for f in found for x in f["samples"]]))
    return rows


def scaled(value, unit):
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def cell(found):
    if "error" in found:
        return found["error"].replace("|", "/")
    rate = f", {scaled(found['work'] / found['seconds'], found['unit'])}" if found.get("work") else ""
    return readable(found["seconds"]) + rate


def ratio(ours, theirs, what):
    return f"{theirs[what] / ours[what]:.2f}" if what in ours and what in theirs else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rows", default="", help="a regular expression: those whose name it is found in")
    parser.add_argument("--results", type=Path, help="the file that rows are added to, instead of the device's in bench/results")
    args = parser.parse_args()
    results = Results(gpu_name() if args.device == "cuda" else cpu_name(args.threads))
    runs = {"argand": [], "torch": []}
    for _ in range(args.processes):
        for library, found in runs.items():
            found.append(measure(library, args))
    ours, theirs = together(runs["argand"]), together(runs["torch"])
    print(f"| row (Python {sys.version.split()[0]}, {args.device}, {args.threads} threads) | Argand | PyTorch | its graph | its torch.compile "
          "| best of PyTorch / Argand |")
    print("|---|---|---|---|---|---|")
    differ = []
    for name, a in ours.items():
        t = theirs.get(name, {"error": "no row"})
        forms = [theirs.get(f"{name}@{form}") for form in ("graph", "compile")]
        sides = {side: found for side, found in zip(("Argand", "eager", "graph", "compile"), (a, t, *forms)) if found}
        results.add(name, "s", {side: found["samples"] for side, found in sides.items() if "samples" in found},
                    {side: found["error"] for side, found in sides.items() if "error" in found}, a.get("work", 0), a.get("unit", ""))
        best_of = min((f for f in (t, *forms) if f and "seconds" in f), key=lambda f: f["seconds"], default={})
        print(f"| {name} | {cell(a)} | {cell(t)} | {' | '.join(cell(f) if f else '' for f in forms)} | {ratio(a, best_of, 'seconds')} |")
        if "peak" in a or "peak" in t:
            peaks = [scaled(side["peak"], "B") if "peak" in side else "" for side in (a, t)]
            results.add(name + ", most memory", "B", {side: [found["peak"]] for side, found in sides.items() if "peak" in found})
            print(f"| {name}, most memory | {peaks[0]} | {peaks[1]} | | | {ratio(a, t, 'peak')} |")
        if any(abs(x - y) > 0.01 * abs(y) for x, y in zip(a.get("losses", []), t.get("losses", []))):
            differ.append(f"{name}: {a['losses']} beside {t['losses']}")
    results.save(args.results)
    print("\nlosses before and after two steps differ by more than 1 %:", "; ".join(differ) or "none")
    return 0


if __name__ == "__main__":
    sys.exit(main())
