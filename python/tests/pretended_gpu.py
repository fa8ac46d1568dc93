"""Programs that run on GPUs, or on pretended ones where there are too few: their kernels do not run, their memory is real."""
import os
import subprocess
import sys

import argand
import pytest


def run(tmp_path, program, gpus=1):
    """The output of a program, which is run in a process of its own."""
    script = tmp_path / "script.py"
    script.write_text("import torch\nif not torch.cuda.is_available(): raise SystemExit('no CUDA here')\n" + program)
    pretended = {} if argand.cuda.device_count() >= gpus else {"ARGAND_CUDA_DRY_RUN": str(gpus)}
    out = subprocess.run([sys.executable, "-m", "argand", str(script)], capture_output=True, text=True, timeout=300,
                         env={**os.environ, **pretended})
    if "no CUDA here" in out.stderr:
        pytest.skip("built without CUDA")
    return out
