"""The modules that share tensors with other processes, which are imported when a tensor is first shared or sent.

The import may run in a thread of multiprocessing while another thread forks.  In the child, the locks of the modules that were being
imported would stay taken, and importing one of them, as reading a sent tensor does, would wait for ever.  So a fork waits for the end of
the import.
"""
import os
import sys
import threading

_importing = threading.Lock()
os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release)


def reductions():
    """argand.multiprocessing.reductions."""
    with _importing:
        from .multiprocessing import reductions  # upward: they are needed once tensors are sent, and import much
    return reductions


def is_sent(obj):
    """Whether multiprocessing, or a DataLoader's worker, pickles `obj` to send it to a process, which then shares its memory; called
    by what pickles it.  That pickler is C code, so the caller of the methods of `obj` is the function that made it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_locals.get("self") is obj:
        frame = frame.f_back
    if frame is None:
        return False
    return frame.f_globals.get("__name__") == "multiprocessing.reduction" or "_shares_memory_of_gpus" in frame.f_globals
