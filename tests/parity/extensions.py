#!/usr/bin/env python3
"""Do extensions in C++ print the same with both libraries?

    extensions.py [record]

Builds and runs python/tests/extensions/program.py and examples/custom_op by PyTorch.  The first must print what
python/tests/recorded/extensions.txt has, which `record` writes; the second is also run by Argand, and must print the same.  It needs
PyTorch, setuptools, ninja, pybind11 for Argand, and minutes of compiling.  Without PyTorch nothing is done, with exit status 77.

`torch.library.opcheck` of PyTorch is asked of the example's op, too.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "python" / "tests" / "recorded" / "extensions.txt"
OPCHECK = ("import torch, custom_op_example\n"
           "gate, up = (torch.randn(3, 5, requires_grad=True) for _ in range(2))\n"
           "print(torch.library.opcheck(torch.ops.custom_op_example.silu_mul.default, (gate, up)))\n")


def run(arguments, folder, **variables):
    environment = {**os.environ, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **variables}
    done = subprocess.run([sys.executable, "-B", *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def example(folder, *by):
    """What the example prints, built in a folder of its own."""
    shutil.copytree(ROOT / "examples" / "custom_op", folder)
    run([*by, "setup.py", "build_ext", "--inplace"], folder)
    return run([*by, "run.py"], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", nargs="?", choices=["record"])
    record = parser.parse_args().record
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        printed = run([ROOT / "python" / "tests" / "extensions" / "program.py"], folder, TORCH_EXTENSIONS_DIR=name)
        if record:
            RECORDED.write_text(printed)
        theirs, ours = example(folder / "theirs"), example(folder / "ours", "-m", "argand")
        checked = run(["-c", OPCHECK], folder / "theirs")
    same = [printed == RECORDED.read_text(), theirs == ours, checked.count("SUCCESS") == checked.count(": ")]
    print(f"program: {same[0]}, example: {same[1]}, opcheck: {checked.strip()}")
    print(f"{sum(same)} passed, {len(same) - sum(same)} failed")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
