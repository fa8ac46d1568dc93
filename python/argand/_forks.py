"""fork() waits until no other thread is importing a part of this package.

Functions of the package import what they need when they are first called.  In a child process that is forked during such an import, the
lock of the module would stay taken, and the same function would wait for it for ever.
"""
import importlib._bootstrap as _bootstrap
import os
import threading
import time

_PATIENCE = 10  # seconds: the import may itself wait for the thread that forks


def _imported_elsewhere():
    """Modules of the package that other threads import.  Before they are among sys.modules, only their locks tell of them."""
    me = threading.get_ident()
    for name, reference in list(getattr(_bootstrap, "_module_locks", {}).items()):
        lock = reference() if name.partition(".")[0] == __package__ else None
        if getattr(lock, "owner", None) not in (None, me):
            yield name


def _wait_for_imports():
    deadline = time.monotonic() + _PATIENCE
    while any(_imported_elsewhere()) and time.monotonic() < deadline:
        time.sleep(0.001)


os.register_at_fork(before=_wait_for_imports)
