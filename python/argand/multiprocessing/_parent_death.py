"""Processes that end with their parent."""
import ctypes
import os
import signal
import sys

_SET_PARENT_DEATH_SIGNAL = 1  # prctl's


def end_with_parent(parent, number=signal.SIGKILL):
    """From now on this process gets the signal when `parent`, its parent by number, is gone; at once if it is gone already.

    Linux tells when the thread that started this process ends, too: start processes from threads that wait for them.
    """
    if not sys.platform.startswith("linux"):
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_PARENT_DEATH_SIGNAL, int(number), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), number)
