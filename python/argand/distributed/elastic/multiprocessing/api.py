"""Processes with logs of their output: the names."""
from ..._launch.commands import SubprocessContext
from ..._launch.functions import MultiprocessContext
from ..._launch.processes import PContext, RunProcsResult
from .logs import DefaultLogsSpecs, LogsDest, LogsSpecs, Std, to_map

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "MultiprocessContext", "PContext", "RunProcsResult", "SignalException", "Std",
           "SubprocessContext", "start_processes", "to_map"]


class SignalException(Exception):
    """A launcher got a signal, and has ended its workers: `sigval` says which."""

    def __init__(self, msg, sigval):
        super().__init__(msg)
        self.sigval = sigval


def _check_ranks(given, count, name):
    if set(given) != set(range(count)):
        raise RuntimeError(f"{name}, local rank mapping mismatch, expected: {set(range(count))}, actual: {set(given)}")


def start_processes(name, entrypoint, args, envs, logs_specs, log_line_prefixes=None, start_method="spawn", numa_options=None,
                    duplicate_stdout_filters=None, duplicate_stderr_filters=None):
    """Starts a command (a text) or a function once for each local rank in `args`, {rank: arguments}, and returns a PContext."""
    if numa_options is not None:
        raise NotImplementedError("start_processes: numa_options: processes are not bound to CPUs here; start them by numactl")
    _check_ranks(args, len(args), "args")
    _check_ranks(envs, len(args), "envs")
    about = (name, entrypoint, args, envs, logs_specs, log_line_prefixes, duplicate_stdout_filters, duplicate_stderr_filters)
    context = SubprocessContext(*about) if isinstance(entrypoint, str) else MultiprocessContext(*about, start_method=start_method)
    try:
        context.start()
    except BaseException:
        context.close()
        raise
    return context
