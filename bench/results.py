"""Keeps what the benchmarks measured: bench/results/<device>.json, one file for each device.

    results.py take FILE...      takes rows that a runner wrote on another machine (--results FILE) into bench/results

A runner makes one Results of a device, adds rows and saves.  Rows of the same name are replaced, others stay, so each row
says by itself when and with what it was measured:

    {"device": "NVIDIA H200",
     "rows": {"step/cnn_b64": {
       "measured": {"date": "2026-11-29", "commit": "374b0ed1", "command": "bench/python.py --device cuda ...", "versions": {"PyTorch": "2.11.0", ...}},
       "unit": "s",                  of the figures: "s" (less is better), "B", or one that ends with "/s" (more is better)
       "work": 64, "work_unit": "img/s",    so many of these are done in a figure of seconds, if the row counts them
       "sides": {"Argand": [median, least, most, count], "eager": [...], "graph": [...], "compile": [...]},
       "failed": {"compile": "RuntimeError: ..."}}}}

The sides besides Argand are PyTorch's forms.  Goals stand in bench/results/goals.json by device and row: {"seconds": ...}, {"rate": ...} in
the row's work_unit, or {"ratio": ...} to the best of PyTorch's forms; "CPU" is any processor.  `./dev docs` writes docs/results.md from these files (tools/generate/results_page.py).
"""
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "results"


def commit():
    """The commit of the source tree, with "+" if files differ from it.  ARGAND_COMMIT gives it where there is no git."""
    if "ARGAND_COMMIT" in os.environ:
        return os.environ["ARGAND_COMMIT"]
    try:
        def git(*words):
            return subprocess.run(["git", "-C", str(FOLDER.parent), *words], check=True, capture_output=True, text=True).stdout.strip()
        return git("rev-parse", "--short=8", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def versions(python):
    """The versions of Python and of the libraries installed for it that Argand is compared with."""
    code = """
import importlib.metadata, json, sys
found = {"Python": sys.version.split()[0]}
for module, name in (("torch", "PyTorch"), ("jax", "JAX")):
    try:
        found[name] = importlib.metadata.version(module)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))"""
    return json.loads(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout)


def command():
    """How the runner was called, without the arguments that name places on its machine."""
    words, kept = iter(sys.argv[1:]), []
    for word in words:
        if word in ("--package", "--build", "--results", "--torch", "--folder"):
            next(words, None)
        else:
            kept.append(word)
    return " ".join(["bench/" + Path(sys.argv[0]).name, *(f"'{word}'" if re.search(r"[^\w./,=-]", word) else word for word in kept)])


def cpu_name(threads):
    """The model of the processor and the threads that were used."""
    model = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return f"{model.group(1).strip() if model else 'CPU'}, {threads} threads"


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader", "--id=0"]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()


def file_of(device):
    return FOLDER / (re.sub(r"[^a-z0-9]+", "_", device.lower()).strip("_") + ".json")


def spread(samples):
    """The summary of figures that is kept: median, minimum, maximum, and their number."""
    return [float(f"{value:.4g}") for value in (statistics.median(samples), min(samples), max(samples))] + [len(samples)]


class Results:
    """Rows of one device; `python` has the peer."""

    def __init__(self, device, python=sys.executable):
        self.device, self.rows = device, {}
        self.measured = {"date": datetime.date.today().isoformat(), "commit": commit(),
                         "command": command(), "versions": versions(python)}

    def add(self, name, unit, sides, failed=None, work=0, work_unit=""):
        """Adds a row.  `sides`: the figures of each side.  `failed`: the error of each side that has no figures."""
        row = {"measured": self.measured, "unit": unit, "sides": {side: spread(samples) for side, samples in sides.items()}}
        if work:
            row |= {"work": work, "work_unit": work_unit}
        if failed:
            row["failed"] = failed
        self.rows[name] = row

    def save(self, path=None):
        """Writes the rows to `path`, by default to this device's file."""
        path = Path(path) if path else file_of(self.device)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"device": self.device, "rows": {}}
        if kept["device"] != self.device:
            raise ValueError(f"{path} holds results of {kept['device']}, and these are of {self.device}")
        kept["rows"].update(self.rows)
        rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(kept["rows"].items()))  # a line each
        path.write_text(f'{{"device": {json.dumps(self.device)}, "rows": {{\n{rows}\n}}}}\n', encoding="utf-8")


def take(path):
    other = json.loads(Path(path).read_text(encoding="utf-8"))
    results = Results(other["device"])
    results.rows = other["rows"]
    results.save()


if __name__ == "__main__":
    if sys.argv[1:2] != ["take"] or len(sys.argv) < 3:
        sys.exit(__doc__)
    for file in sys.argv[2:]:
        take(file)
