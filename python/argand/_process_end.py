"""What daemon threads do when the end of the program takes away what they use."""
import threading


def sleep_if_the_process_ends():
    """For a thread that met an error: where the end of the program has caused it, as it has closed the workers of a loader or left the
    process groups, a daemon thread is to end silently, as it would a moment later.  It sleeps until the process is gone."""
    if threading.current_thread().daemon and not threading.main_thread().is_alive():
        threading.Event().wait()
