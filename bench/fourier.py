#!/usr/bin/env python3
"""Fourier transforms beside PyTorch (on a GPU) and NumPy (on the CPU); prints a table.

    python fourier.py --package build/cuda/python [--device cuda|cpu] [--threads N] [--processes N] [--results FILE]

with a Python that has torch, or, on the CPU, numpy alone.  Each side runs in processes of its own, in turn; a figure is the
median of the medians of its processes.  The results of both sides are compared first.  The rows are kept in bench/results, or
added to FILE (bench/results.py).
"""
import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 0.6  # of each row, at least


def rows(library, device):
    """{name: work} of a side; the inputs are the same numbers on all."""
    numpy = importlib.import_module("numpy")
    module = importlib.import_module(library)
    if library == "argand":
        importlib.import_module("argand._torch.install").install()
    random = numpy.random.default_rng(5)

    def numbers(*sizes, complex_too=False):
        x = random.standard_normal(sizes, dtype=numpy.float32)
        if complex_too:
            x = (x + 1j * random.standard_normal(sizes, dtype=numpy.float32)).astype(numpy.complex64)
        return x if library == "numpy" else module.from_numpy(x).to(device)

    fft = module.fft
    signals, images, line = numbers(1024, 4096), numbers(64, 256, 256, complex_too=True), numbers(1 << 20, complex_too=True)
    short, half, prime = numbers(1 << 16, complex_too=True), numbers(1024, 2049, complex_too=True), numbers(64, 4099, complex_too=True)
    found = {
        "rfft 1024 x 4096": lambda: fft.rfft(signals),
        "irfft 1024 x 4096": lambda: fft.irfft(half),
        "fft of real 1024 x 4096": lambda: fft.fft(signals),
        "fft 2^16": lambda: fft.fft(short),
        "fft 2^20": lambda: fft.fft(line),
        "fft 64 x 4099 (a prime)": lambda: fft.fft(prime),
        "fft2, ifft2 64 x 256 x 256": lambda: fft.ifft2(fft.fft2(images)),
    }
    if library != "numpy":
        sound = numbers(16, 160000)
        window = module.hann_window(400).to(device)

        def frames_and_back():
            frames = module.stft(sound, 400, 100, window=window, return_complex=True)
            return module.istft(frames, 400, 100, window=window)
        found["stft, istft 16 x 160000"] = frames_and_back
    return found


def measure(library, device, threads):
    """Prints a JSON object a row: its median time, and a few numbers of its result."""
    module = importlib.import_module(library)
    if library != "numpy":
        module.set_num_threads(threads)
    synchronize = module.cuda.synchronize if device == "cuda" else lambda: None
    for name, work in rows(library, device).items():
        result = work()
        part = result.reshape(-1)[:: max(1, result.size // 97 if library == "numpy" else result.numel() // 97)]
        part = part if library == "numpy" else part.cpu().numpy()
        print(json.dumps({"row": name, "samples": timed(work, synchronize), "real": part.real.tolist(), "imag": part.imag.tolist()}), flush=True)


def timed(work, synchronize):
    for _ in range(3):
        work()
    synchronize()
    samples, end = [], time.perf_counter() + SECONDS
    while len(samples) < 5 or time.perf_counter() < end:
        repeats = 1 if samples and samples[-1] > 1e-2 else 20
        begin = time.perf_counter()
        for _ in range(repeats):
            work()
        synchronize()
        samples.append((time.perf_counter() - begin) / repeats)
    return [statistics.median(samples)]


def run(library, args):
    environment = {"ARGAND_CUDA_COMPILE_MEANWHILE": "0", **os.environ, "ARGAND_NUM_THREADS": str(args.threads)}
    environment["PYTHONPATH"] = str(args.package) if library == "argand" else ""
    command = [sys.executable, str(HERE / "fourier.py"), "--side", library, "--device", args.device, "--threads", str(args.threads)]
    out = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {row["row"]: row for row in map(json.loads, out.splitlines())}


def difference(a, b):
    """The largest difference of the numbers that were kept, in units of the largest of them."""
    there = [complex(*z) for z in zip(b["real"], b["imag"])]
    return max(abs(complex(*x) - y) for x, y in zip(zip(a["real"], a["imag"]), there)) / max(map(abs, there))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--processes", type=int, default=3, help="of either side")
    parser.add_argument("--peer", choices=["torch", "numpy"], help="torch on a GPU, numpy on the CPU if not given")
    parser.add_argument("--results", type=Path, help="the file that rows are added to, instead of the device's in bench/results")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        return measure(args.side, args.device, args.threads)
    sys.path.insert(0, str(HERE))
    from results import Results, cpu_name, gpu_name
    from run import readable
    peer = args.peer or ("torch" if args.device == "cuda" else "numpy")
    sides = {"argand": {}, peer: {}}
    for _ in range(args.processes):
        for library, found in sides.items():
            for name, row in run(library, args).items():
                found.setdefault(name, dict(row, samples=[]))["samples"] += row["samples"]
    results = Results(gpu_name() if args.device == "cuda" else cpu_name(args.threads))
    print(f"| row ({args.device}, {args.threads} threads, float32) | Argand | {peer} | {peer} / Argand | difference |")
    print("|---|---|---|---|---|")
    for name, ours in sides["argand"].items():
        theirs, mine = sides[peer].get(name), statistics.median(ours["samples"])
        measured = {"Argand": ours["samples"]}
        if theirs is None:
            print(f"| {name} | {readable(mine)} | | | |")
        else:
            measured["eager" if peer == "torch" else peer] = theirs["samples"]
            other = statistics.median(theirs["samples"])
            print(f"| {name} | {readable(mine)} | {readable(other)} | {other / mine:.2f} | {difference(ours, theirs):.1e} |")
        results.add(f"fourier/{name}", "s", measured)
    results.save(args.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
