"""Workers that are commands, started by a supervisor."""
import json
import os
import selectors
import signal
import subprocess
import sys
import time

from . import supervisor
from .processes import PContext


class SubprocessContext(PContext):
    """Workers that are commands: `entrypoint` with the arguments of each."""

    def _start(self, outputs):
        commands, self._commands = os.pipe2(os.O_CLOEXEC)
        self._status, status = os.pipe2(os.O_CLOEXEC)
        given = {fd for pair in outputs.values() for fd in pair if fd > 2}
        try:
            self._supervisor = subprocess.Popen([sys.executable, "-I", "-S", supervisor.__file__, str(commands), str(status)],
                                                pass_fds=[commands, status, *given], start_new_session=True)
        finally:
            os.close(commands)
            os.close(status)
        self._unread = b""
        self._selector.register(self._status, selectors.EVENT_READ, self._hear)
        self._tell(workers=[{"rank": rank, "command": [self.entrypoint, *map(str, self.args[rank])], "environment": self.envs[rank],
                             "output": outputs[rank]} for rank in range(self.nprocs)], files=self._files)
        while len(self._pids) < self.nprocs and not self._is_lost():
            self.step(None)

    def _is_lost(self):
        return self._supervisor is None

    def _tell(self, **what):
        data = json.dumps(what).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._commands, data):]
        except BrokenPipeError:
            pass  # the end of the other pipe says it

    def _hear(self):
        data = os.read(self._status, 1 << 16)
        if not data:
            self._lose()
            return
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in map(json.loads, lines):
            if "started" in line:
                self._pids[line["started"]] = line["pid"]
            elif "refused" in line:
                self._refused[line["refused"]] = f"{self.entrypoint!r} cannot be started: {line['why']}"
            else:
                self._ended(line["ended"], line["code"], line["time"])

    def _lose(self):
        """The supervisor is gone before its workers: they have died with it."""
        self._selector.unregister(self._status)
        self._supervisor.wait()
        for rank in self.running():
            self._refused.setdefault(rank, "the process that started it was killed")
            self._ended(rank, -signal.SIGKILL, time.time())
        self._supervisor = None

    def _send(self, ranks, number, to_group):
        self._tell(signal=int(number), ranks=ranks, group=to_group)

    def _end_all(self):
        if self._commands is None:
            return
        os.close(self._commands)
        self._commands = None
        while not self._is_lost():
            self.step(None)  # until its pipe ends: it tells who ended, and the workers' last output is taken
        os.close(self._status)

    _commands = _supervisor = None
