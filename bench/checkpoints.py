#!/usr/bin/env python3
"""Checkpoints beside PyTorch and the safetensors package: save, load, mapped load; prints a table.

    checkpoints.py --package build/release/python [--folder DIR] [--processes N]

with a Python that has torch, safetensors and NumPy.  Each library runs in processes of its own, in turn; a figure is the
least of them.  Two state dicts: 200 MB in 50 tensors, and 5000 tensors of 1 KiB.  "cold": the file's pages were dropped
from the system's cache before; "synced": the data is on the disk when the call ends, which Argand's save to a path sees to
by itself, and for the others os.fsync() is called behind it.  The row "bytes" reads and writes as many bytes with no format
at all, which is what the disk and the system can do.
"""
import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETS = {"200MB_in_50": (50, 1_000_000), "5000_of_1KiB": (5000, 256)}
LIBRARIES = ("argand", "torch", "argand.safetensors", "safetensors", "bytes")


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def drop(path):
    """Drops the file's pages from the page cache; they must have been written to the disk before."""
    sync(path)
    handle = os.open(path, os.O_RDONLY)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def least(work, before=lambda: None, repeats=5):
    seconds = []
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        kept = work()
        seconds.append(time.perf_counter() - start)
        del kept
    return min(seconds)


def pickled(name):
    """(save to a path, save synced, load, mapped load, sum of all elements) of argand or torch."""
    torch = importlib.import_module(name)

    def save(state, path):
        with open(path, "wb") as f:  # Argand's save to a path is synced
            torch.save(state, f)

    def save_synced(state, path):
        torch.save(state, path)
        if name == "torch":
            sync(path)
    return torch, save, save_synced, torch.load, lambda path: torch.load(path, mmap=True)


def safetensors(name):
    """The same format by Argand's reader or by the package's, into tensors of torch (it always maps)."""
    if name == "safetensors":
        torch, package = importlib.import_module("torch"), importlib.import_module("safetensors.torch")

        def save_synced(state, path):
            package.save_file(state, path)
            sync(path)
        return torch, package.save_file, save_synced, None, package.load_file
    torch = importlib.import_module("argand")
    return torch, None, None, torch.load, lambda path: torch.load(path, mmap=True)


def plain(total, folder):
    """Bytes alone."""
    path, data = folder / "bytes", bytearray(os.urandom(1 << 20)) * (total >> 20)

    def write():
        with open(path, "wb", buffering=0) as f:
            f.write(data)

    def write_synced():
        write()
        sync(path)

    def read():
        with open(path, "rb", buffering=0) as f:
            f.readinto(data)
    return {"save": least(write), "save, synced": least(write_synced), "load": least(read), "load, cold": least(read, lambda: drop(path))}


def measure(library, count, elements, folder):
    if library == "bytes":
        return plain(4 * count * elements, folder)
    name = library.split(".")[0]
    torch, save, save_synced, load, load_mapped = safetensors(library) if "safetensors" in library else pickled(name)
    state = {f"layer{i}.weight": torch.randn(elements) for i in range(count)}
    path = folder / ("shared.safetensors" if "safetensors" in library else f"{name}.pt")
    found = {}
    if save:
        found["save"] = least(lambda: save(state, path))
        found["save, synced"] = least(lambda: save_synced(state, path))
    else:
        write_safetensors(state, path)

    def used(load):
        loaded = load(path)
        return [t.max() for t in loaded.values()]  # each element is looked at
    for what, f in (("load", load), ("mapped load", load_mapped)):
        if f:
            found[what] = least(lambda: f(path))
            found[what + ", then used"] = least(lambda: used(f))
            found[what + ", then used, cold"] = least(lambda: used(f), lambda: drop(path))
    if name == "argand" and "." not in library:
        found["mapped load, verified"] = least(lambda: torch.load(path, mmap=True, verify=True))
    return found


def write_safetensors(state, path):
    """By hand, since Python has no writer of ours: as the package writes it."""
    header, data = {}, bytearray()
    for name, t in state.items():
        content = t.numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def child(library, count, elements, folder):
    print(json.dumps(measure(library, count, elements, Path(folder))))


def readable(seconds):
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", type=Path, default=Path("build/release/python"))
    parser.add_argument("--folder", type=Path, default=Path("."), help="on the disk to measure")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(args.package), os.environ.get("PYTHONPATH", "")])}
    for name, (count, elements) in SETS.items():
        best = {library: {} for library in LIBRARIES}
        for _ in range(args.processes):
            for library in LIBRARIES:
                with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                    command = [sys.executable, __file__, "--child", library, str(count), str(elements), folder]
                    out = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
                for row, seconds in json.loads(out).items():
                    best[library][row] = min(seconds, best[library].get(row, seconds))
        rows = list(dict.fromkeys(row for found in best.values() for row in found))
        print(f"\n| {name} | " + " | ".join(LIBRARIES) + " |\n" + "|---" * (1 + len(LIBRARIES)) + "|")
        for row in rows:
            print(f"| {row} | " + " | ".join(readable(best[lib][row]) if row in best[lib] else "" for lib in LIBRARIES) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
