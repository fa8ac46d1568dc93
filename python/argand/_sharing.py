"""The modules that share tensors with other processes, which are imported when a tensor is first shared or sent.

The import may run in a thread of multiprocessing while another thread forks.  In the child, the locks of the modules that were being
imported would stay taken, and importing one of them, as reading a sent tensor does, would wait for ever.  So a fork waits for the end of
the import.
"""
import os
import threading

_importing = threading.Lock()
os.register_at_fork(before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release)


def reductions():
    """argand.multiprocessing.reductions."""
    with _importing:
        from .multiprocessing import reductions
    return reductions
