"""The modules that share tensors with other processes, which are imported when a tensor is first shared or sent.

That may be in a thread of multiprocessing's, while another thread forks.  The child would have the locks of modules that were being
imported, and nobody to release them: importing one of these modules, as reading what was sent does, would wait for ever.  So a fork
waits for the end of the import.
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
