"""Processes that a test has started, and what they started, wherever they stand in the tree."""
import os
import pathlib


def processes_of(mark):
    """The numbers of the processes in whose environment this text stands."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                found.append(int(pid))
        except OSError:
            pass  # it has ended, or is somebody else's
    return found
