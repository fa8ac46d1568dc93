"""NumPy, if the program has loaded it: the package does not need it, and a program that holds an array has loaded it."""
import sys


def numpy_if_loaded():
    """The module, or None.  None also while a thread imports it: after a fork() that thread is missing, and it stays a part."""
    numpy = sys.modules.get("numpy")
    return None if numpy is None or getattr(numpy.__spec__, "_initializing", False) else numpy
