"""multiprocessing of Python, as torch.multiprocessing.  Tensors that are sent to another process share their memory with it: see
reductions.py for the CPU, gpu_memory.py for a GPU."""
import multiprocessing
import threading
from multiprocessing import *  # noqa: F401,F403

from .._ignored import harmless
from . import reductions  # noqa: F401 -- before any thread sends tensors, see .._sharing
from .spawn import (ProcessContext, ProcessException, ProcessExitedException, ProcessRaisedException, SpawnContext,  # noqa: F401
                    spawn, start_processes)

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", *multiprocessing.__all__]  # as PyTorch's

_strategy = "file_descriptor"


def get_sharing_strategy():
    """What set_sharing_strategy() chose."""
    return _strategy


def get_all_sharing_strategies():
    """PyTorch's names on Linux."""
    return {"file_descriptor", "file_system"}


@harmless(new_strategy="tensors are shared by a descriptor of memory that no file names, and arrive the same")
def set_sharing_strategy(new_strategy):
    """Accepted: workers' tensors travel in anonymous memory, whose descriptors are closed at once."""
    global _strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"invalid sharing strategy: {new_strategy!r}")
    _strategy = new_strategy


def init_reductions():
    """Teaches multiprocessing to send tensors, as importing this package does."""


def _comm():
    """The file in which the system has the calling thread's name."""
    return f"/proc/self/task/{threading.get_native_id()}/comm"


def _set_thread_name(name):
    """Names the calling thread, for tools that list threads: up to 15 bytes of the name."""
    with open(_comm(), "wb") as file:
        file.write(name.encode()[:15])


def _get_thread_name():
    """The name of the calling thread."""
    with open(_comm(), "rb") as file:
        return file.read().decode(errors="replace").removesuffix("\n")
