"""One function in several processes, as torch.multiprocessing.spawn."""
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import uuid
import warnings

from ._parent_death import end_with_parent

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
           "start_processes"]

_PATIENCE = 30.0  # seconds from SIGTERM to SIGKILL, without a grace period
_PATIENCE_OF_ORPHANS = 5.0  # seconds from the parent's end to that of a child that cannot hear SIGINT
_PATIENCE_AFTER_CTRL_C = 1.0  # seconds for children to end by the SIGINT that a terminal sends them, too


class ProcessException(Exception):
    """The base of spawn()'s errors about a process that failed."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process ended by an exception; the message has its text."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal, or with a code other than 0."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


# ---- in the new process


def _end_after_parent(parent):
    """A child that waits in a library does not hear SIGINT."""
    try:
        multiprocessing.connection.wait([os.pidfd_open(parent.pid)])
    except ProcessLookupError:
        pass  # it is gone already
    except (AttributeError, OSError):  # an old kernel; forked siblings may hold this up
        parent.join()
    time.sleep(_PATIENCE_OF_ORPHANS)
    os.kill(os.getpid(), signal.SIGKILL)


def _run(function, rank, args, error_file, is_of_server):
    parent = multiprocessing.parent_process()
    try:
        end_with_parent(None if is_of_server else parent.pid, signal.SIGINT)
        threading.Thread(target=_end_after_parent, args=(parent,), name="argand spawn", daemon=True).start()
        function(rank, *args)
    except KeyboardInterrupt:
        if parent.is_alive() if is_of_server else os.getppid() == parent.pid:  # else nobody wants to know
            _report(error_file)
            sys.exit(128 + signal.SIGINT)
    except Exception:
        _report(error_file)
        sys.exit(1)


def _report(path):
    with open(path, "x", encoding="utf-8", errors="backslashreplace", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
        file.write(traceback.format_exc())


# ---- in the parent


class ProcessContext:
    """The processes of start_processes(join=False).  `error_files` names a file for each, which it writes when it fails."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one ends, at most `timeout` seconds; True when all have.

        When one has failed the others are ended, and it raises: they have `grace_period` seconds to end by themselves, then get a
        SIGTERM, and a SIGKILL if they have not ended after another grace period (30 s without one).
        """
        if not self.sentinels:
            return True
        for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                self._end(grace_period or 0, _PATIENCE if grace_period is None else grace_period)
                self._raise(index)
        return not self.sentinels

    def _end(self, grace, patience):
        self._wait(grace)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._wait(patience)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _wait(self, seconds):
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, deadline - time.monotonic()))

    def _raise(self, index):
        process, texts = self.processes[index], [_taken(path) for path in self.error_files]
        if texts[index] is not None:
            text = f"\n\n-- Process {index} terminated with the following error:\n{texts[index]}"
            raise ProcessRaisedException(text, index, process.pid)
        code, name = process.exitcode, None
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"<Unknown signal {-code}>"
        how = f"with signal {name}" if name else f"with exit code {code}"
        raise ProcessExitedException(f"process {index} terminated {how}", index, process.pid, code, name)


def _taken(path):
    """What a process wrote of its failure; None if it wrote nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(path)
        return text
    except FileNotFoundError:
        return None


class SpawnContext(ProcessContext):
    """ProcessContext's name before PyTorch 1.4."""

    def __init__(self, processes, error_files):
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in processes i = 0 .. nprocs-1; waits for them, or returns their ProcessContext."""
    context = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    for rank in range(nprocs):
        error_files.append(os.path.join(tempfile.gettempdir(), f"argand-errorfile-{uuid.uuid4().hex}.txt"))
        about = (fn, rank, args, error_files[-1], start_method == "forkserver")
        processes.append(context.Process(target=_run, args=about, daemon=daemon))
        processes[-1].start()
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    try:
        while not started.join():
            pass
    except ProcessException:
        raise
    except BaseException:  # Ctrl-C: nobody would end them, and the interpreter would wait for them
        started._end(_PATIENCE_AFTER_CTRL_C, _PATIENCE)
        for path in error_files:
            _taken(path)
        raise
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes() with fresh interpreters."""
    if start_method != "spawn":
        warnings.warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n"
                      "\t\t torch.multiprocessing.start_processes(...)", FutureWarning, stacklevel=2)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
