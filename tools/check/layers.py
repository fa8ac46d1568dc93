"""Includes point down only (ARCHITECTURE.md, "The picture").

L0 base < L1 core < L2 runtime < L3 kernels < L4 exec < L5 ops < L6 autograd < library, io < serialize < L7 siblings, which do
not include each other < L8 models, jit < L9 c.  A folder may include itself and what is below it; only folders named cuda include runtime/cuda or CUDA's own
headers; kernels/api and kernels/blocks.h include the kernels of no device; there is no include cycle.
"""
import re

from tree import INCLUDE

RANK = {"base": 0, "core": 1, "runtime": 2, "kernels": 3, "exec": 4, "ops": 5, "autograd": 6,
        "library": 7, "io": 7, "serialize": 8, "models": 10, "jit": 10, "c": 12}
SIBLINGS = {"nn", "optim", "data", "vision", "parallel", "profile"}
DEVICE_FREE = ("argand/kernels/api/", "argand/kernels/blocks.")
DEVICES = ("argand/kernels/cpu/", "argand/kernels/cuda/")
CUDA_HEADER = re.compile(r"^(cuda|cudnn|cublas|nvrtc|nccl|cub/|curand|cufft|cusolver|cusparse|nvtx)")


def layer_of(path):
    """base for argand/base/str.h; None for argand/argand.h, which stands above all layers."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def rank(layer):
    return 11 if layer is None else RANK.get(layer, 9)


def in_cuda(path):
    return "cuda" in path.split("/")[:-1] or path.endswith((".cu", ".cuh"))


def why_not(path, name):
    """Why `path` must not include the header `name`, or None."""
    if (CUDA_HEADER.match(name) or name.startswith("argand/runtime/cuda/")) and not in_cuda(path):
        return "only folders named cuda may include it"
    if path.startswith("argand/") and name.startswith(("torch/", "ATen/", "c10/")):
        return "LibTorch's names are for programs"
    if not name.startswith("argand/") or not path.startswith("argand/"):
        return None
    if path.startswith(DEVICE_FREE) and name.startswith(DEVICES):
        return "kernels/api and the list of blocks name no device"
    mine, theirs = layer_of(path), layer_of(name)
    if rank(theirs) > rank(mine):
        return f"{mine} is below {theirs or 'argand/argand.h'}"
    if mine != theirs and mine in SIBLINGS and theirs in SIBLINGS:
        return f"{mine} and {theirs} are siblings"
    return None


def cycle_from(start, includes, done):
    """The files of an include cycle reachable from `start`, or []; iterative depth-first search."""
    path, iterators = [start], [iter(includes.get(start, ()))]
    while path:
        following = next(iterators[-1], None)
        if following is None:
            done.add(path.pop())
            iterators.pop()
        elif following in path:
            return path[path.index(following):] + [following]
        elif following not in done:
            path.append(following)
            iterators.append(iter(includes.get(following, ())))
    return []


def findings(tree):
    found, includes = [], {}
    for path in tree.files(".h", ".cpp", ".cu", ".cuh", ".inc", under=("argand/", "tools/", "tests/", "bench/")):
        text = tree.text(path)
        if path.startswith("argand/") and layer_of(path) is not None and layer_of(path) not in RANK.keys() | SIBLINGS:
            found.append(f"{path}: no layer is called {layer_of(path)}")
        for match in INCLUDE.finditer(text):
            quote, name = match.groups()
            reason = why_not(path, name)
            if quote == '"' and "/" not in name:
                reason = "write the path from the root of the repository"
            if reason:
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(f"{path}:{line}: must not include {name}: {reason}")
            includes.setdefault(path, []).append(name)
    done = set()
    for path in sorted(includes):
        cycle = cycle_from(path, includes, done) if path not in done else []
        if cycle:
            found.append(f"{cycle[0]}: include cycle: {' -> '.join(cycle)}")
            break
    return found
