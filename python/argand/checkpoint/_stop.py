"""Signals that ask a training run to end."""
import os
import signal


class StopSignal:
    """While it is entered, the first SIGINT or SIGTERM sets `requested`, the second one ends the program at once.

    A signal that is ignored (nohup) stays ignored.  For the main thread.
    """
    _NUMBERS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self):
        self.signal = 0  # the number that came
        self._came = False  # to this process
        self._before = {}

    @property
    def requested(self):
        """Whether the program was asked to stop."""
        return self.signal != 0

    def requested_by_any(self, group=None):
        """Whether a process of the group was asked to stop: the same answer on all of them, which all must ask for.

        Signals come to processes at different times, so each asking for itself would stop at another step.  `signal` is that of the
        first one.  Without a process group it is `requested`.
        """
        from ._agreement import Ranks
        ranks = Ranks(group)
        if ranks.size > 1:
            self.signal = ranks.largest(self.signal)
        return self.requested

    def _note(self, number, frame):
        if self._came:
            os._exit(128 + number)
        self._came = True
        self.signal = self.signal or number

    def __enter__(self):
        for number in self._NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error):
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
