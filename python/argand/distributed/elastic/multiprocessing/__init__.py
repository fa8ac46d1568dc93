"""Processes with logs of their output, as torch.distributed.elastic.multiprocessing."""
from .... import _surface
from .api import (DefaultLogsSpecs, LogsDest, LogsSpecs, MultiprocessContext, PContext, RunProcsResult, SignalException, Std,  # noqa: F401
                  SubprocessContext, start_processes, to_map)
from .errors import ProcessFailure  # noqa: F401

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "MultiprocessContext", "PContext", "ProcessFailure", "RunProcsResult",
           "SignalException", "Std", "SubprocessContext", "start_processes", "to_map"]

__getattr__, __dir__ = _surface.of(__name__)
