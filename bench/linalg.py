"""Linear algebra on a GPU: Argand beside PyTorch, for matrices of 1024 rows and for batches of 4096 matrices of 8 rows.

    linalg.py --package build/release/python [--dtype float32|float64] [--rows REGEX] [--results FILE]

with a Python that has torch.  Both libraries run in turn, three processes of each; a figure is the median of all their samples, and a
row that fails says so in its place.  The last column is how far Argand's result is from what it should multiply back to, divided by the
largest element, so that nobody is fast by being wrong.  The rows are kept in bench/results, or added to FILE (bench/results.py).
"""
import argparse
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from results import Results, gpu_name  # noqa: E402
from run import readable  # noqa: E402

PROCESSES, SECONDS = 3, 1.0  # of each library; of each row
SIZES = {"1024": (1024, 1024), "4096x8x8": (4096, 8, 8)}


def works(torch, sizes, dtype):
    """{name: (work, residual of its result)}"""
    n = sizes[-1]
    torch.manual_seed(1)
    general = torch.randn(*sizes, dtype=dtype, device="cuda")
    a = general + 2 * n ** 0.5 * torch.eye(n, dtype=dtype, device="cuda")  # far from singular
    b = torch.randn(*sizes, dtype=dtype, device="cuda")
    positive = general @ general.mT / n + torch.eye(n, dtype=dtype, device="cuda")
    hermitian = (general + general.mT) / 2
    linalg, one = torch.linalg, torch.eye(n, dtype=dtype, device="cuda")
    return {
        "solve": (lambda: linalg.solve(a, b), lambda x: a @ x - b),
        "cholesky": (lambda: linalg.cholesky(positive), lambda low: low @ low.mT - positive),
        "inv": (lambda: linalg.inv(a), lambda x: a @ x - one),
        "qr": (lambda: linalg.qr(general), lambda f: f[0] @ f[1] - general),
        "svd": (lambda: linalg.svd(general), lambda f: f[0] * f[1][..., None, :] @ f[2] - general),
        "eigh": (lambda: linalg.eigh(hermitian), lambda f: f[1] * f[0][..., None, :] @ f[1].mT - hermitian),
        "det": (lambda: linalg.det(a / (2 * n ** 0.5)), None),
        "solve_triangular": (lambda: linalg.solve_triangular(a.triu(), b, upper=True), lambda x: a.triu() @ x - b),
        "eig": (lambda: linalg.eig(general), lambda f: general.to(f[1].dtype) @ f[1] - f[1] * f[0][..., None, :]),
    }


def measure(library, arguments):
    """Prints a line of JSON for each row."""
    torch = importlib.import_module(library)
    torch.backends.cuda.matmul.allow_tf32 = False
    for size, sizes in SIZES.items():
        for name, (work, residual) in works(torch, sizes, getattr(torch, arguments.dtype)).items():
            row = f"linalg/{name}_{size}_{arguments.dtype}"
            if not re.search(arguments.rows, row) or (name == "eig" and len(sizes) > 2):
                continue
            found = {"row": row}
            try:
                result = work()
                torch.cuda.synchronize()
                if residual:
                    found["residual"] = residual(result).abs().max().item()
                found["samples"] = samples(torch, work)
            except RuntimeError as error:
                found["error"] = str(error).splitlines()[0]
            print(json.dumps(found), flush=True)


def samples(torch, work):
    for _ in range(3):
        work()
    found, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(found) < 5:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
    return found


def run(library, arguments):
    """{row: what is known of it}"""
    environment = dict(os.environ, PYTHONPATH=str(arguments.package) if library == "argand" else "")
    command = [sys.executable, __file__, "--measure", library, "--dtype", arguments.dtype, "--rows", arguments.rows]
    rows = {}
    for _ in range(PROCESSES):
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
        for line in output.splitlines():
            found = json.loads(line)
            known = rows.setdefault(found["row"], {"samples": []})
            known["samples"] += found.pop("samples", [])
            known.update(found)
    return rows


def cell(found):
    return found["error"][:24] if "error" in found else readable(statistics.median(found["samples"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--rows", default="", help="only rows whose names match this regular expression")
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    parser.add_argument("--measure", choices=("argand", "torch"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.measure, arguments)
    arguments.package = arguments.package.resolve()
    ours, theirs = run("argand", arguments), run("torch", arguments)
    results = Results(gpu_name(), sys.executable)
    print(f"{'':40}{'Argand':>26}{'PyTorch':>26}{'residual':>12}")
    for row, found in ours.items():
        other = theirs[row]
        residual = f"{found['residual']:.1e}" if "residual" in found else ""
        print(f"{row:40}{cell(found):>26}{cell(other):>26}{residual:>12}")
        sides = {side: f["samples"] for side, f in (("Argand", found), ("eager", other)) if f["samples"]}
        failed = {side: f["error"] for side, f in (("Argand", found), ("eager", other)) if "error" in f}
        results.add(row, "s", sides, failed)
    results.save(arguments.results)


if __name__ == "__main__":
    main()
