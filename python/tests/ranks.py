"""Scripts that run in several processes at once, one for each rank."""
import os
import pathlib
import subprocess
import sys
import textwrap
import time

from launching import free_port

import argand

PACKAGE = pathlib.Path(argand.__file__).parent.parent


def start(tmp_path, size, body, timeout=60, init="dist.init_process_group('gloo')"):
    script = tmp_path / "script.py"
    script.write_text("import os, sys, time, datetime\nimport argand as torch\nimport argand.distributed as dist\n"
                      "sys.stdout.reconfigure(line_buffering=True); "  # ranks may end by os._exit()
                      f"{init}\nrank, size = dist.get_rank(), dist.get_world_size()\n" + textwrap.dedent(body))
    env = dict(os.environ, PYTHONPATH=str(PACKAGE), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()), WORLD_SIZE=str(size),
               OMP_NUM_THREADS="1")
    return [subprocess.Popen([sys.executable, "-B", str(script)], env=dict(env, RANK=str(rank), LOCAL_RANK=str(rank)), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(size)]


def finish(processes, timeout=60):
    """(status, output, errors) of each; none is left."""
    deadline = time.monotonic() + timeout
    results = []
    try:
        for p in processes:
            out, err = p.communicate(timeout=max(1, deadline - time.monotonic()))
            results.append((p.returncode, out, err))
    finally:
        for p in processes:
            p.kill()
    return results


def run(tmp_path, size, body, **options):
    results = finish(start(tmp_path, size, body, **options))
    for status, out, err in results:
        assert status == 0, out + err
    return [out for _, out, _ in results]
