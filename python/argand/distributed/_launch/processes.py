"""The workers of one node in one attempt: their output, how they end, and their end."""
import abc
import os
import resource
import selectors
import signal
import sys
import time
from dataclasses import dataclass, field

from .errors import ProcessFailure
from .output import Stream, last_traceback, open_pipe

_LAST_OUTPUT = 2.0  # seconds, once all workers are gone
_FILES_OF_WORKER, _FILES_OF_AGENT = 8, 200  # open at once: pipes and their other ends, logs
_LAST_WORDS = 0.2  # seconds, once a worker is gone


def _allow_files(count):
    """Raises the limit of open files so far, if the system lets us; what it was, which workers keep."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = before[1] if before[1] != resource.RLIM_INFINITY else count
    if before[0] != resource.RLIM_INFINITY and before[0] < min(count, most):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, most), before[1]))
    return before


@dataclass
class RunProcsResult:
    """How workers ended, by local rank; return values are of functions only."""

    return_values: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)
    stdouts: dict = field(default_factory=dict)
    stderrs: dict = field(default_factory=dict)

    def is_failed(self):
        """Whether any failed."""
        return bool(self.failures)


class PContext(abc.ABC):
    """Workers by local rank.  Everything happens in step(), which whoever holds this calls again and again.

    stopped: the ranks that close() asked to end, whose exit codes are no failures.
    """

    def __init__(self, name, entrypoint, args, envs, logs_specs, log_line_prefixes=None, duplicate_stdout_filters=None,
                 duplicate_stderr_filters=None):
        self.name, self.entrypoint, self.args, self.envs, self.nprocs = name, entrypoint, args, envs, len(envs)
        self._logs_specs, self._prefixes = logs_specs, log_line_prefixes or {}
        self._filters = (duplicate_stdout_filters or [], duplicate_stderr_filters or [])
        self._selector = selectors.DefaultSelector()
        self._streams, self._stderr, self._filtered = set(), {}, {}
        self._pids, self.exits, self.stopped, self._refused = {}, {}, set(), {}
        self._dest, self._is_closed = None, False

    # ---- what the two kinds of workers do

    @abc.abstractmethod
    def _start(self, outputs):
        """Starts all, with these pairs of descriptors as stdout and stderr."""

    @abc.abstractmethod
    def _send(self, ranks, number, to_group):
        """Sends a signal to workers, or to all processes of their sessions."""

    @abc.abstractmethod
    def _end_all(self):
        """Ends what there is by SIGKILL."""

    def return_values(self):
        """{local rank: what its function returned}"""
        return {}

    # ---- starting

    def start(self):
        """Starts all workers."""
        sys.stdout.flush()  # what was said before comes before what they say
        sys.stderr.flush()
        self._files = _allow_files(_FILES_OF_WORKER * self.nprocs + _FILES_OF_AGENT)
        self._dest = self._logs_specs.reify(self.envs)
        outputs, given_away = {}, []
        try:
            for rank in range(self.nprocs):
                outputs[rank] = [self._output(rank, console, given_away) for console in (1, 2)]
            self._start(outputs)
        finally:
            for fd in given_away:
                os.close(fd)

    def _output(self, rank, console, given_away):
        """The descriptor that a worker gets for a stream of its own; read here, where it is not a file's alone."""
        files, tees = ((self._dest.stdouts, self._dest.tee_stdouts), (self._dest.stderrs, self._dest.tee_stderrs))[console - 1]
        path, is_shown = files[rank], rank in tees
        if path and not is_shown:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            given_away.append(fd)
            return fd
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666) if path else None
        reading, writing = open_pipe(console)
        os.set_blocking(reading, False)
        given_away.append(writing)
        prefix = self._prefixes.get(rank, f"[{self.name}{rank}]:") if is_shown else ""
        filters = self._filters[console - 1] if is_shown else ()
        stream = Stream(reading, console, prefix, log, filters, self._filtered_file(console) if filters else None, self.nprocs == 1)
        self._streams.add(stream)
        if console == 2:
            self._stderr[rank] = stream
        self._selector.register(reading, selectors.EVENT_READ, lambda: self._pump(reading, stream))
        return writing

    def _filtered_file(self, console):
        if console not in self._filtered:
            path = self._dest.filtered_stdout if console == 1 else self._dest.filtered_stderr
            self._filtered[console] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        return self._filtered[console]

    def _pump(self, fd, stream):
        if not stream.pump():
            self._selector.unregister(fd)
            self._streams.discard(stream)
            if stream.fd is not None:
                stream.close()

    # ---- running

    def watch(self, fd, ready):
        """Calls ready() in step() when there is something to read."""
        self._selector.register(fd, selectors.EVENT_READ, ready)

    def step(self, timeout):
        """Waits for output, ends of workers, and what watch() named, at most so long, and treats what is there."""
        for key, _ in self._selector.select(timeout):
            key.data()

    def pids(self):
        """{local rank: pid}"""
        return dict(self._pids)

    def running(self):
        """The ranks of those that have not ended."""
        return [rank for rank in range(self.nprocs) if rank not in self.exits]

    def _ended(self, rank, code, when):
        self.exits.setdefault(rank, (code, when))

    def failed(self):
        """The ranks that ended with another code than 0 before anybody asked them to end."""
        return [rank for rank, (code, _) in self.exits.items() if code != 0 and rank not in self.stopped]

    def failures(self):
        """{local rank: ProcessFailure} of failed()."""
        return {rank: self._failure(rank) for rank in self.failed()}

    def _failure(self, rank):
        code, when = self.exits[rank]
        told = self._refused.get(rank) or last_traceback(self._stderr_of(rank))
        return ProcessFailure(rank, self._pids.get(rank, -1), code, self._dest.error_files.get(rank, ""), stderr=told, ended=when)

    def _stderr_of(self, rank):
        if rank in self._stderr:
            return self._stderr[rank].tail()
        path = self._dest.stderrs[rank]
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            file.seek(max(0, os.path.getsize(path) - (1 << 16)))
            return file.read().decode(errors="replace")

    def take_last_output(self):
        """Takes what those that have ended wrote; soon, as what they started may hold their pipes open."""
        deadline = time.monotonic() + _LAST_WORDS
        while any(self._stderr.get(rank) in self._streams for rank in self.exits) and time.monotonic() < deadline:
            self.step(0.01)

    # ---- ending

    def wait(self, timeout=-1, period=1):
        """A RunProcsResult when one has failed, after ending the others, or all have ended; None after `timeout` seconds (0 looks
        once, -1 waits for ever)."""
        deadline = time.monotonic() + timeout if timeout >= 0 else None
        while True:
            left = period if deadline is None else min(period, deadline - time.monotonic())
            self.step(max(0, left))
            if self.failed() or not self.running():
                self.close()
                return self.result()
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def result(self):
        """How it ended."""
        return RunProcsResult({} if self.failed() else self.return_values(), self.failures(), dict(self._dest.stdouts),
                              dict(self._dest.stderrs))

    def stop(self, number, to_group=False):
        """Sends a signal to all that run."""
        self.stopped.update(self.running())
        self._send(self.running(), number, to_group)

    def close(self, death_sig=None, timeout=30, hurry=lambda: False):
        """Ends what runs: by the signal (SIGTERM), and SIGKILL when `timeout` seconds have passed or hurry() says so."""
        if self._is_closed:
            return
        self._is_closed = True
        number = death_sig or signal.SIGTERM
        if self.running() and number != signal.SIGKILL:
            self.stop(number, to_group=number == signal.SIGINT)  # a terminal's Ctrl-C is for all processes of a session, too
            deadline = time.monotonic() + timeout
            while self.running() and time.monotonic() < deadline and not hurry():
                self.step(min(0.1, max(0, deadline - time.monotonic())))
        self.stopped.update(self.running())
        self._end_all()
        deadline = time.monotonic() + _LAST_OUTPUT
        while self._streams and time.monotonic() < deadline:
            self.step(0.1)
        for stream in self._streams:
            stream.close()
        for fd in self._filtered.values():
            os.close(fd)
        self._selector.close()
