"""The launcher of one node: starts its workers when the nodes have agreed, and ends them."""
import contextlib
import os
import select
import signal
import socket
import threading
import time

from ..elastic.multiprocessing import SignalException, start_processes
from .errors import ChildFailedError, ProcessFailure
from .environment import log_prefixes, worker_environments
from .membership import Membership
from .output import say


_LOOK_AT_STORE = 1.0  # seconds between two looks whether it answers
_WAITS_SILENTLY = 5.0  # seconds for nodes to meet


class LaunchError(RuntimeError):
    """The nodes do not come, or do not stay, together."""


class Agent:
    """run() returns {rank: what its function returned}, or raises ChildFailedError, SignalException or LaunchError."""

    def __init__(self, config, entrypoint, args, rendezvous):
        self._config, self._entrypoint, self._args, self._rendezvous = config, entrypoint, args, rendezvous
        self._context, self._last, self._order, self._is_reported = None, None, None, False
        self._failures, self._signals = {}, []
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self):
        """Runs round after round, until an order ends them."""
        self._membership = None
        with self._hearing_signals(), self._rendezvous.secret():
            try:
                self._membership = Membership(**self._rendezvous.membership())
                return self._follow()
            except (ChildFailedError, LaunchError, SignalException):
                raise
            except BaseException as error:  # a folder for logs that cannot be written, say
                if self._membership is not None:
                    self._membership.leave(f"{type(error).__name__}: {error}")
                raise
            finally:
                self._stop(signal.SIGTERM)
                if self._membership is not None:
                    self._membership.close()
                os.close(self._woken)
                os.close(self._wake)

    def _follow(self):
        patience = time.monotonic() + _WAITS_SILENTLY
        while True:
            self._wait()
            if self._order is None and patience is not None and time.monotonic() > patience:
                say(f"waiting for the other nodes; the store is {self._rendezvous.where}")
                patience = None
            if self._signals:
                self._leave()
            while (order := self._membership.order()) is not None:
                if order["do"] != "run":
                    return self._end(order)
                self._begin(order)
            self._look()
            if self._membership.is_stuck():
                return self._end({"do": "lost", "why": "does not answer"})

    def _wait(self):
        if self._context is None:
            select.select([self._woken, self._membership.ready], [], [], _LOOK_AT_STORE)
        else:
            self._context.step(_LOOK_AT_STORE)
        self._drain()

    def _drain(self):
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)

    # ---- signals

    @contextlib.contextmanager
    def _hearing_signals(self):
        """Signals are noted, and waited for beside everything else.  Only the main thread can hear them."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            for name in self._config.signals_to_handle.split(","):
                number = signal.Signals[name.strip()]
                if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # nohup stays in force
                    before[number] = signal.signal(number, self._hear)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number, frame):
        self._signals.append(number)
        with contextlib.suppress(OSError):
            os.write(self._wake, b"!")

    def _leave(self):
        number = signal.Signals(self._signals[0])
        running = len(self._context.running()) if self._context is not None else 0
        again = " (Ctrl-C again kills them)" if number == signal.SIGINT else ""
        say(f"got {number.name}: ending {running} worker{'s' * (running != 1)}{again}")
        self._membership.leave(number.name)
        self._stop(number)
        raise SignalException(f"Process {os.getpid()} got signal: {number.value}", number)

    # ---- rounds

    def _begin(self, order):
        if self._order is not None:
            why = "restart" if order["restarts"] != self._order["restarts"] else "the nodes have changed"
            count = f" {order['restarts']} of {self._config.max_restarts}" if why == "restart" else ""
            say(f"{why}{count}: {len(order['nodes'])} node{'s' * (len(order['nodes']) != 1)}, {order['world']} workers")
        self._stop(signal.SIGTERM)
        self._order, self._is_reported, self._failures = order, False, {}
        if str(self._membership.id) not in order["nodes"]:
            say("this node is not needed now, and waits for a place")
            return
        environments = worker_environments(self._config, order, self._place(), self._rendezvous)
        args = {rank: tuple(each.replace("${local_rank}", str(rank)) if isinstance(each, str) else each for each in self._args)
                for rank in environments}
        self._context = start_processes(self._config.role, self._entrypoint, args, environments, self._config.logs_specs,
                                        log_prefixes(self._config, environments), self._config.start_method, None,
                                        self._config.duplicate_stdout_filters, self._config.duplicate_stderr_filters)
        for fd in (self._woken, self._membership.ready):
            self._context.watch(fd, self._drain)

    def _place(self):
        return self._order["nodes"][str(self._membership.id)]

    def _look(self):
        """Says how the workers do, once it is known."""
        if self._context is None or self._is_reported:
            return
        if self._context.failed():
            self._is_reported = True
            self._report_failure(self._context, self._place()[1])
        elif not self._context.running():
            self._is_reported = True
            self._membership.say("done", {"round": self._order["round"]})

    def _report_failure(self, context, first_rank):
        """Says it before the others are ended, which takes as long as they need."""
        context.take_last_output()
        failures = {first_rank + rank: failure for rank, failure in context.failures().items()}
        rank = min(failures, key=lambda each: failures[each].timestamp)
        self._membership.say("failed", {"round": self._order["round"], "failure": self._record(rank, failures[rank])})
        self._stop(signal.SIGTERM)
        self._failures = {first_rank + rank: failure for rank, failure in context.failures().items()}

    def _record(self, rank, failure):
        say(f"rank {rank} (local rank {failure.local_rank}, pid {failure.pid}) failed: "
            + (f"exit code {failure.exitcode}" if failure.exitcode >= 0 else failure.signal_name()))
        return {"time": failure.timestamp, "rank": rank, "local_rank": failure.local_rank, "pid": failure.pid, "text": failure.text(),
                "exitcode": failure.exitcode, "host": socket.gethostname()}

    def _stop(self, number):
        context = self._context
        if context is None:
            return
        context.close(number, self._config.shutdown_timeout, hurry=lambda: len(self._signals) > 1)
        self._context, self._last = None, context

    def _end(self, order):
        self._stop(signal.SIGTERM)
        if order["do"] == "lost":
            raise LaunchError(f"the store at {self._rendezvous.where} {order['why']}")
        failure = order["failure"]
        if self._failures or (failure and "rank" in failure):
            if failure and "rank" in failure:
                self._failures.setdefault(failure["rank"], _of_another_node(failure))
            elif order["why"]:  # the workers failed because a node was lost
                say(order["why"])
            raise ChildFailedError(self._name(), self._failures)
        if order["why"]:
            raise LaunchError(order["why"])
        values = self._last.return_values() if self._last is not None else {}
        return {self._place()[1] + rank: value for rank, value in values.items()}

    def _name(self):
        if not isinstance(self._entrypoint, str):
            return getattr(self._entrypoint, "__qualname__", str(self._entrypoint))
        words = [self._entrypoint, *map(str, self._args)]
        if os.path.basename(self._entrypoint).startswith("python"):
            words = [word for word in words[1:] if not word.startswith("-") and word != "argand"] or words
        return words[0]


def _of_another_node(record):
    failure = ProcessFailure(record["local_rank"], record["pid"], record["exitcode"], "", ended=record["time"], host=record["host"])
    failure.message = record["text"]
    return failure
