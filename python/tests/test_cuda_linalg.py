"""Linear algebra on a GPU without cuSOLVER: it runs on the CPU, with a warning."""
import os
import subprocess
import sys

import argand as torch
import pytest

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

PROGRAM = """
import argand as torch
A = torch.eye(3, device="cuda") * 2
print(torch.linalg.solve(A, torch.ones(3, 1, device="cuda")).flatten().tolist(), torch.linalg.qr(A)[0].device)
print(torch.linalg.svdvals(A).tolist())
"""


def run(**environment):
    return subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
                          env={**os.environ, **environment})


def test_without_the_library(tmp_path):
    # A library of that name which has none of the functions: C's.
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
    (tmp_path / "libcusolver.so.12").symlink_to(path)
    usual = os.environ.get("ARGAND_CUDA_LIBRARY_PATH", "")
    without = run(ARGAND_CUDA_LIBRARY_PATH=f"{tmp_path}:{usual}")
    assert without.stdout.splitlines() == ["[0.5, 0.5, 0.5] cuda:0", "[2.0, 2.0, 2.0]"]
    assert without.stderr.count("that takes matrices without the libraries cuSOLVER and cuBLAS") == 3
    there = run()
    assert "cuSOLVER" not in there.stderr and there.stdout.splitlines()[0] == without.stdout.splitlines()[0]
