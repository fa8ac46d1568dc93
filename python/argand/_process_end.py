"""How daemon threads end when the exit of the program takes away what they use."""
import threading


def sleep_if_the_process_ends():
    """For a thread that met an error.  If the program's exit caused it (by closing the workers of a loader or leaving the process groups),
    a daemon thread must not report it: it sleeps until the process is gone."""
    if threading.current_thread().daemon and not threading.main_thread().is_alive():
        threading.Event().wait()
