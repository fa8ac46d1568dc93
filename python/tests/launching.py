"""What the tests of torchrun have in common: programs started by it, and whether anything of them is left."""
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-m", "argand.distributed.run"]

SOON = 10  # seconds within which others end or raise: the machine does something else, too; kill_ranks.py measures the 5 that are promised


class Launch:
    """One agent, with what it and its workers print."""

    def __init__(self, folder, arguments, environment):
        self._out, self._err = open(folder / "out", "w+"), open(folder / "err", "w+")
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("PET_", "OMP_", "TORCHELASTIC_"))}
        self.process = subprocess.Popen([*COMMAND, *map(str, arguments)], cwd=folder, env={**variables, **environment},
                                        stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err, start_new_session=True)

    def end(self, timeout=40):
        """Waits for it; self."""
        self.code = self.process.wait(timeout)
        return self

    @property
    def out(self):
        return _text(self._out)

    @property
    def err(self):
        return _text(self._err)

    def until(self, holds, seconds=30):
        """Waits until holds(self)."""
        deadline = time.monotonic() + seconds
        while not holds(self):
            assert time.monotonic() < deadline, f"waited {seconds} s\n{self.out}\n{self.err}"
            time.sleep(0.02)
        return self

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._out.close()
        self._err.close()


def _text(file):
    with open(file.name) as same:
        return same.read()


@pytest.fixture
def launch(tmp_path):
    """launch(*arguments, program=None, **environment) starts an agent in a folder of its own, with worker.py in it."""
    started = []

    def start(*arguments, program="", **environment):
        folder = tmp_path / f"node{len(started)}"
        folder.mkdir()
        (folder / "worker.py").write_text("import os, sys, time, signal\nrank = int(os.environ['RANK'])\n"
                                          "restarts = int(os.environ['TORCHELASTIC_RESTART_COUNT'])\n" + program)
        environment.setdefault("OMP_NUM_THREADS", "1")
        started.append(Launch(folder, arguments, {k: v for k, v in environment.items() if v is not None}))
        return started[-1]
    yield start
    for each in started:
        each.close()


def is_gone(pid):
    """Whether a process has ended; a zombie has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until_gone(pids, seconds=10):
    """The processes that have not ended then."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if not is_gone(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def kill(launch, number=signal.SIGKILL):
    launch.process.send_signal(number)
