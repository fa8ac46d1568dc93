"""What failed in a worker: record() writes it to a file, and ChildFailedError reports it."""
import datetime
import functools
import json
import os
import signal
import socket
import time
from dataclasses import dataclass, field

from .error_handler import ErrorHandler

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

_NOT_AVAILABLE = "<N/A>"


def get_error_handler():
    """The handler of record()."""
    return ErrorHandler()


@dataclass
class ProcessFailure:
    """How a worker failed: from what record() wrote into `error_file`, or else from its exit code and the end of its stderr."""

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict = field(init=False)
    message: object = field(init=False)
    timestamp: float = field(init=False)
    stderr: str = ""  # what is said where there is no error file
    ended: float = 0.0  # when the process ended, in seconds since 1970
    host: str = field(default_factory=socket.gethostname)

    def __post_init__(self):
        self.error_file_data = {"message": ""}
        self.message, self.timestamp = "", self.ended or time.time()
        if self.error_file and os.path.isfile(self.error_file):
            self._read()
        else:
            self.error_file = _NOT_AVAILABLE
        if not self.message:
            self.message = self._how_it_ended()

    def _read(self):
        with open(self.error_file) as file:
            self.error_file_data = json.load(file)
        self.message = message = self.error_file_data["message"]
        about = self.error_file_data if isinstance(message, str) else message["extraInfo"]
        self.timestamp = float(about.get("timestamp", 0))

    def _how_it_ended(self):
        parts = [f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"] if self.exitcode < 0 else []
        if self.stderr:
            parts.append(self.stderr)
        return "\n".join(parts) or "it wrote nothing to stderr"

    def signal_name(self):
        """The name of the signal that ended it, or "<N/A>"."""
        try:
            return signal.Signals(-self.exitcode).name if self.exitcode < 0 else _NOT_AVAILABLE
        except ValueError:
            return _NOT_AVAILABLE

    def timestamp_isoformat(self):
        """The local time, YYYY-MM-DD_HH:MM:SS."""
        return datetime.datetime.fromtimestamp(int(self.timestamp)).isoformat(sep="_")

    def text(self):
        """The message, or the traceback that record() wrote."""
        if not isinstance(self.message, dict):
            return self.message
        return self.message.get("extraInfo", {}).get("py_callstack") or self.message.get("message", _NOT_AVAILABLE)


class ChildFailedError(Exception):
    """Workers failed: `failures` has them by their ranks in the world.  The text has the first failure, by time, last."""

    def __init__(self, name, failures):
        self.name, self.failures = name, failures
        if not failures:
            raise AssertionError("ChildFailedError: expected failures to have a failure, got none")
        super().__init__(self.format_msg())

    def get_first_failure(self):
        """(rank, failure) of the earliest."""
        rank = min(self.failures, key=lambda each: self.failures[each].timestamp)
        return rank, self.failures[rank]

    def format_msg(self):
        """The text."""
        first, _ = self.get_first_failure()
        others = [rank for rank in self.failures if rank != first]
        lines = ["=" * 60, f"{self.name} FAILED", "-" * 60]
        if others:
            lines += ["Failures:", *(_report(i, rank, self.failures[rank]) for i, rank in enumerate(others, start=1)), "-" * 60]
        lines += ["Root Cause (first observed failure):", _report(0, first, self.failures[first]), "=" * 60]
        return "\n" + "\n".join(lines)


def _report(index, rank, failure):
    ended = f"  ({failure.signal_name()})" if failure.exitcode < 0 else ""
    told = failure.text().rstrip().replace("\n", "\n    ")
    return (f"[{index}]:\n"
            f"  time      : {failure.timestamp_isoformat()}\n"
            f"  host      : {failure.host}\n"
            f"  rank      : {rank} (local_rank: {failure.local_rank})\n"
            f"  exitcode  : {failure.exitcode} (pid: {failure.pid}){ended}\n"
            f"  error_file: {failure.error_file}\n"
            f"  traceback : {told}")


def record(fn, error_handler=None):
    """A decorator for the main function of a worker: an exception is written into the file that the launcher reads, and goes on."""
    handler = error_handler or get_error_handler()

    @functools.wraps(fn)
    def recorded(*args, **kwargs):
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as exit:
            if exit.code == 0:
                return None
            raise
        except ChildFailedError as error:  # this is a launcher that another launcher started
            _, failure = error.get_first_failure()
            if failure.error_file != _NOT_AVAILABLE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise
    return recorded
