"""One function in several processes, as torch.multiprocessing.spawn."""
import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback


class ProcessException(Exception):
    """The base of what spawn() says of a process that failed."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """A process ended by an exception; the message has its text."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal, or with a code other than 0."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _run(function, rank, args, errors):
    try:
        function(rank, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        sys.exit(1)


class SpawnContext:
    """The processes of spawn(join=False)."""

    def __init__(self, processes, errors):
        self.processes, self._errors = processes, errors

    def pids(self):
        """The ids of the processes."""
        return [p.pid for p in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one ends; True when all have.  When one fails the others are ended, after grace_period seconds, and it raises."""
        running = {p.sentinel: i for i, p in enumerate(self.processes) if p.exitcode is None}
        if running:
            multiprocessing.connection.wait(list(running), timeout)
        failed = next((i for i, p in enumerate(self.processes) if p.exitcode not in (None, 0)), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        deadline = time.monotonic() + (grace_period or 0)
        for process in self.processes:  # those that end by themselves may
            process.join(max(0, deadline - time.monotonic()))
        for process in self.processes:
            if process.exitcode is None:
                process.terminate()
            process.join()
        process, code = self.processes[failed], self.processes[failed].exitcode
        if not self._errors[failed].empty():
            text = f"\n\n-- Process {failed} terminated with the following error:\n{self._errors[failed].get()}"
            raise ProcessRaisedException(text, failed, process.pid)
        name = signal.Signals(-code).name if code < 0 else None
        how = f"with signal {name}" if name else f"with exit code {code}"
        raise ProcessExitedException(f"process {failed} terminated {how}", failed, process.pid, code, name)


ProcessContext = SpawnContext


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in processes i = 0 .. nprocs-1; waits for them, or returns their SpawnContext."""
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for rank in range(nprocs):
        errors.append(context.SimpleQueue())
        process = context.Process(target=_run, args=(fn, rank, args, errors[-1]), daemon=daemon)
        process.start()
        processes.append(process)
    started = SpawnContext(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes() with fresh interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
