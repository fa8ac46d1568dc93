"""The Work that asynchronous collectives return."""
import os
import sys

from .. import _C

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def call_site():
    """"folder/file.py:12": the line outside of this package that is being run; errors of collectives name it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ""
    return f"{'/'.join(frame.f_code.co_filename.rsplit('/', 2)[-2:])}:{frame.f_lineno}"


def milliseconds(timeout, otherwise=-1):
    """Converts a timedelta or a number of seconds; `otherwise` for None."""
    if timeout is None:
        return otherwise
    seconds = timeout.total_seconds() if hasattr(timeout, "total_seconds") else float(timeout)
    if not seconds > 0:
        raise ValueError(f"expected a timeout above 0, got {timeout}")
    # harmless(otherwise): a timeout is given
    return max(1, round(seconds * 1000))


class Works:
    """Several that one call has begun, as a Work of them all."""

    def __init__(self, works):
        self._works = list(works)

    def append(self, work):
        """Adds one."""
        self._works.append(work)

    def wait(self, timeout=None):
        """True once all are finished."""
        return all([work.wait(timeout) for work in self._works])

    def is_completed(self):
        """Whether all are finished."""
        return all(work.is_completed() for work in self._works)

    def result(self):
        """The tensors that they write."""
        return [t for work in self._works for t in work.result()]

    def get_future(self):
        """A Future of the tensors that they write."""
        from ..futures import collect_all
        return collect_all([work.get_future() for work in self._works]).then(lambda done: [t for each in done.value() for t in each.value()])


class Work:
    """A collective or a message that may not be finished.  Its tensors must stay as they are until it is."""

    def __init__(self, work):
        self._work = work

    def is_completed(self):
        """Whether it is finished, well or not."""
        return self._work.is_completed()

    def is_success(self):
        """Whether it is finished and nothing went wrong."""
        return self._work.is_success()

    def wait(self, timeout=None):
        """True once it is finished; raises what went wrong.

        timeout: a timedelta, or seconds; DistBackendError if it is not finished by then, and goes on.
        """
        if not self._work._wait(milliseconds(timeout)):
            raise _C.DistBackendError(f"Operation timed out! {self._work.call} is not finished after {timeout}")
        return True

    def synchronize(self):
        """The same as wait()."""
        self.wait()

    def exception(self):
        """The exception of a collective that went wrong; None before it is finished, or if nothing did."""
        try:
            self._work._raise_failure()
        except Exception as error:  # noqa: BLE001: that is what is asked for
            return error
        return None

    def result(self):
        """The tensors that it writes."""
        return self._work.result()

    def source_rank(self):
        """The rank of the group that sent the message."""
        return self._work.source_rank()

    def get_future(self):
        """A Future of the tensors that it writes."""
        from ..futures import Future
        future = Future()

        def finish():
            error = self.exception()
            if error is None:
                future.set_result(self.result())
            else:
                future.set_exception(error)

        self._work._when_done(finish)
        return future
