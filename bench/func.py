"""torch.func: Argand beside PyTorch.  Per-sample gradients of a small CNN over 128 images, an ensemble of networks, Jacobians by rows and by
columns, a Hessian, and products of a network's Jacobian with a vector: in forward mode, by a dual level, and by linearize().

    func.py --package build/release/python [--device cpu|cuda] [--rows REGEX] [--results FILE]

with a Python that has torch.  Both libraries run in turn, three processes of each; a figure is the median of all their samples.  `loop` is the
time of one call for each sample, in Argand.  The rows are kept in bench/results, or added to FILE (bench/results.py).
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
from results import Results, cpu_name, gpu_name  # noqa: E402

PROCESSES, SECONDS, SAMPLES = 3, 1.0, 128


def works(torch, device):
    """{name: work}"""
    from importlib import import_module
    func, nn = import_module(torch.__name__ + ".func"), torch.nn
    torch.manual_seed(1)

    def cnn():
        return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(32 * 7 * 7, 10)).to(device)
    net = cnn()
    parameters = {name: p.detach() for name, p in net.named_parameters()}
    images = torch.randn(SAMPLES, 1, 28, 28, device=device)
    labels = torch.randint(10, (SAMPLES,), device=device)

    def loss(values, image, label):
        out = func.functional_call(net, values, (image.unsqueeze(0),))
        return nn.functional.cross_entropy(out, label.unsqueeze(0))
    gradient = func.grad(loss)
    per_sample = func.vmap(gradient, (None, 0, 0))

    members = [nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 10)).to(device) for _ in range(16)]
    stacked, _ = func.stack_module_state(members)
    rows = torch.randn(256, 64, device=device)
    ensemble = func.vmap(lambda values, x: func.functional_call(members[0], values, (x,)), (0, None))
    matrix = torch.randn(64, 64, device=device)
    jacobian = func.jacrev(lambda x: (matrix @ x).tanh() * x.sum())
    x = torch.randn(64, device=device)
    by_columns = func.jacfwd(lambda x: (matrix @ x).tanh() * x.sum())
    hessian = func.hessian(lambda x: ((matrix[:32, :32] @ x).tanh() ** 2).sum())
    mlp = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).to(device).requires_grad_(False)
    along = torch.randn(256, 64, device=device)
    forward_ad = import_module(torch.__name__ + ".autograd.forward_ad")

    def dual():
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(mlp(forward_ad.make_dual(rows, along))).tangent
    linear = func.linearize(mlp, rows)[1]
    return {
        "jvp_mlp": lambda: func.jvp(mlp, (rows,), (along,)),
        "dual_level_mlp": dual,
        "linearized_mlp": lambda: linear(along),
        "jacfwd_64": lambda: by_columns(x),
        "hessian_32": lambda: hessian(x[:32]),
        "per_sample_gradients_128": lambda: per_sample(parameters, images, labels),
        "ensemble_16": lambda: ensemble(stacked, rows),
        "jacrev_64": lambda: jacobian(x),
        "per_sample_gradients_128_loop": lambda: [gradient(parameters, images[i], labels[i]) for i in range(SAMPLES)],
    }


def measure(library, arguments):
    """Prints a line of JSON for each row."""
    torch = importlib.import_module(library)
    torch.set_num_threads(arguments.threads)
    wait = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    for name, work in works(torch, arguments.device).items():
        row = f"func/{name}"
        if not re.search(arguments.rows, row) or (library == "torch" and name.endswith("loop")):
            continue
        for _ in range(3):
            work()
        samples, end = [], time.perf_counter() + SECONDS
        while time.perf_counter() < end or len(samples) < 5:
            wait()
            begin = time.perf_counter()
            work()
            wait()
            samples.append(time.perf_counter() - begin)
        print(json.dumps({"row": row, "samples": samples}), flush=True)


def run(library, arguments):
    """{row: samples}"""
    environment = dict(os.environ, PYTHONPATH=str(arguments.package) if library == "argand" else "")
    command = [sys.executable, __file__, "--measure", library, "--device", arguments.device, "--rows", arguments.rows, "--threads",
               str(arguments.threads)]
    found = {}
    for line in subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        made = json.loads(line)
        found[made["row"]] = made["samples"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default="build/release/python")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rows", default="", help="only rows whose names match this regular expression")
    parser.add_argument("--results", help="the file that rows are added to, instead of the device's in bench/results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        return measure(arguments.measure, arguments)
    arguments.package = arguments.package.resolve()
    rows = {"argand": {}, "torch": {}}
    for _ in range(PROCESSES):
        for library, all_rows in rows.items():
            for row, samples in run(library, arguments).items():
                all_rows.setdefault(row, []).extend(samples)
    results = Results(gpu_name() if arguments.device == "cuda" else cpu_name(arguments.threads), sys.executable)
    print(f"{'ms':40} {'argand':>9} {'torch':>9} {'ratio':>7}")
    for row, samples in rows["argand"].items():
        ours, theirs = statistics.median(samples), rows["torch"].get(row)
        line = f"{row:40} {1e3 * ours:9.3f}"
        print(line + (f" {1e3 * statistics.median(theirs):9.3f} {statistics.median(theirs) / ours:7.2f}" if theirs else ""))
        results.add(row, "s", {"Argand": samples, **({"eager": theirs} if theirs else {})})
    results.save(arguments.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
