"""Programs as people write them, on a GPU: Argand beside PyTorch, both with the settings that hold at first.

    programs.py --package build/release/python [--rows REGEX] [--results FILE]

with a Python that has torch and torchvision.  The rows are float32 training and inference, batches of another size each step, and single
operations that were slow once.  bench/programs_worker.py is the same program for both libraries; each runs it in a process of its own,
twice, in turn.  A figure is the median of all steps, each from the end of the one before to its own end on the device; first steps of
new sizes count.  The rows are kept in bench/results, or added to FILE (bench/results.py).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from results import Results, gpu_name  # noqa: E402
from run import readable  # noqa: E402

PROCESSES = 2


def run(command, environment, rows):
    output = subprocess.run([*command, str(HERE / "programs_worker.py"), rows], stdout=subprocess.PIPE, text=True, env=environment).stdout
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def cell(found):
    if not found or "error" in found:
        return (found or {"error": "no result"})["error"][:30]
    return f"{readable(statistics.median(found['samples']))} {found['peak'] / 2**20:.0f} MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--rows", default="", help="only rows whose names match this regular expression")
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    arguments = parser.parse_args()
    sides = {"Argand": ([sys.executable, "-m", "argand"], dict(os.environ, PYTHONPATH=str(arguments.package.resolve()))),
             "eager": ([sys.executable], dict(os.environ, PYTHONPATH=""))}
    known = {side: {} for side in sides}
    for _ in range(PROCESSES):
        for side, (command, environment) in sides.items():
            for found in run(command, environment, arguments.rows):
                before = known[side].setdefault(found["row"], found)
                if "error" in found:
                    known[side][found["row"]] = found
                elif before is not found and "samples" in before:
                    before["samples"] += found["samples"]
                    before["peak"] = max(before["peak"], found["peak"])
    results = Results(gpu_name(), sys.executable)
    print(f"{'':42}{'Argand':>32}{'PyTorch':>32}{'ratio':>8}")
    for row in known["eager"] | known["Argand"]:
        ours, theirs = known["Argand"].get(row), known["eager"].get(row)
        medians = [statistics.median(f["samples"]) if f and "samples" in f else None for f in (ours, theirs)]
        ratio = f"{medians[1] / medians[0]:.2f}" if all(medians) else ""
        print(f"{row:42}{cell(ours):>32}{cell(theirs):>32}{ratio:>8}")
        both = {"Argand": ours, "eager": theirs}
        results.add(row, "s", {side: f["samples"] for side, f in both.items() if f and "samples" in f},
                    {side: f["error"] for side, f in both.items() if f and "error" in f})
    results.save(arguments.results)


if __name__ == "__main__":
    main()
