"""Workers that are functions of this program, started by multiprocessing."""
import multiprocessing
import os
import pickle
import selectors
import signal
import sys
import time

from ...multiprocessing._parent_death import end_with_parent
from .errors import record
from .processes import PContext


class _Descriptor:
    """A descriptor for another process, by whatever way that is started."""

    def __init__(self, fd):
        self.fd = fd

    def __reduce__(self):
        return _arrived, (multiprocessing.reduction.DupFd(self.fd),)

    def detach(self):
        return self.fd


def _arrived(duplicate):
    return _Descriptor(duplicate.detach())


def _work(function, args, environment, output, result, parent):
    """In the new process: calls the function, and sends what it returns."""
    end_with_parent(parent)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # after a fork these are the launcher's
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    for standard, descriptor in enumerate(output, start=1):
        os.dup2(descriptor.detach(), standard)
    for name, value in environment.items():
        os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

    @record
    def call():
        return pickle.dumps(function(*args))
    try:
        result.send_bytes(call() or pickle.dumps(None))
    finally:
        result.close()
        sys.stdout.flush()
        sys.stderr.flush()


class MultiprocessContext(PContext):
    """Workers that call `entrypoint`, a function, with the arguments of each; what they return is pickled."""

    def __init__(self, *about, start_method="spawn", **more):
        super().__init__(*about, **more)
        self._context, self._processes, self._values = multiprocessing.get_context(start_method), {}, {}
        self._method, self._parent_ends = start_method, {}

    def _start(self, outputs):
        parent = None if self._method == "forkserver" else os.getpid()  # its server ends with this process
        for rank in range(self.nprocs):
            receiving, sending = self._context.Pipe(duplex=False)
            process = self._context.Process(name=f"{self.name}{rank}", target=_work, args=(
                self.entrypoint, self.args[rank], self.envs[rank], [_Descriptor(fd) for fd in outputs[rank]], sending, parent))
            process.start()
            sending.close()
            self._processes[rank], self._pids[rank], self._parent_ends[rank] = process, process.pid, receiving
            self._selector.register(receiving.fileno(), selectors.EVENT_READ, lambda rank=rank: self._receive(rank))
            self._selector.register(process.sentinel, selectors.EVENT_READ, lambda rank=rank: self._gone(rank))

    def _receive(self, rank):
        """Takes the result; its pipe ends without one when the process fails."""
        connection = self._parent_ends.pop(rank, None)
        if connection is None:
            return  # _gone() took it in the same step
        self._selector.unregister(connection.fileno())
        try:
            self._values[rank] = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            pass
        connection.close()

    def _gone(self, rank):
        process = self._processes[rank]
        self._selector.unregister(process.sentinel)
        if rank in self._parent_ends and self._parent_ends[rank].poll():
            self._receive(rank)
        _signal(process.pid, signal.SIGKILL, to_group=True)  # what it left running; its number is its own until join()
        process.join()
        self._ended(rank, process.exitcode, time.time())

    def return_values(self):
        return {rank: self._values.get(rank) for rank in range(self.nprocs)}

    def _send(self, ranks, number, to_group):
        for rank in ranks:
            _signal(self._pids[rank], number, to_group)

    def _end_all(self):
        for rank, pid in self._pids.items():
            if rank not in self.exits:
                _signal(pid, signal.SIGKILL, to_group=True)
        while self._pids.keys() - self.exits.keys():
            self.step(1)


def _signal(pid, number, to_group):
    try:
        if to_group:
            os.killpg(pid, number)
            return
    except ProcessLookupError:
        pass  # it has no session yet
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
