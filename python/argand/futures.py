"""Values that come later, as torch.futures: set by one thread, awaited by others or handed to callbacks."""
import threading
import typing
import warnings

T = typing.TypeVar("T")


class Future(typing.Generic[T]):
    """A value that is set once, or the exception that came instead.

    devices: accepted: work on GPUs is ordered by its streams.
    """

    def __init__(self, *, devices=None):
        from . import _C
        for device in devices or ():
            if not isinstance(device, int) and _C.device(device).index is None:
                raise ValueError(f"Expected devices to have indices, got {device}")
        self._condition = threading.Condition()
        self._callbacks = []
        self._done, self._value, self._error = False, None, None

    def done(self):
        """Whether there is a value, or an exception."""
        return self._done

    def _complete(self, value, error):
        with self._condition:
            if self._done:
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                                   "completed once.")
            self._done, self._value, self._error = True, value, error
            callbacks, self._callbacks = self._callbacks, None
            self._condition.notify_all()
        for callback in callbacks:
            callback()

    def set_result(self, result):
        """Sets the value and calls the callbacks, in this thread, before it returns."""
        self._complete(result, None)

    def set_exception(self, result):
        """Sets an exception, which wait() and value() raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def wait(self):
        """The value, once there is one; raises the exception if that came."""
        with self._condition:
            self._condition.wait_for(self.done)
        return self.value()

    def value(self):
        """The value that is there already."""
        if not self._done:
            raise RuntimeError("Future.value(): there is no value yet; wait() waits for it")
        if self._error is not None:
            raise self._error
        return self._value

    def _when_done(self, call):
        with self._condition:
            if not self._done:
                self._callbacks.append(call)
                return
        call()

    def then(self, callback):
        """A Future of what callback(self) will return; it is called when this one is done, now if it is."""
        following = Future()

        def call():
            try:
                result = callback(self)
            except Exception as error:
                failed = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
                failed.__cause__ = error
                following.set_exception(failed)
            else:
                following.set_result(result)
        self._when_done(call)
        return following

    def add_done_callback(self, callback):
        """Calls callback(self) when this one is done, now if it is.  What it raises is a warning."""
        def call():
            try:
                callback(self)
            except Exception as error:
                warnings.warn(f"Got the following error when running the callback: {type(error).__name__}: {error}", stacklevel=2)
        self._when_done(call)


def collect_all(futures):
    """A Future of the list of these, for when all are done; of an exception if one of them has one."""
    futures = list(futures)
    everything = Future()
    lock, left = threading.Lock(), [len(futures)]

    def one_less(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            error = next((f._error for f in futures if f._error is not None), None)
            everything._complete(None if error else futures, error)
    for future in futures:
        future.add_done_callback(one_less)
    if not futures:
        everything.set_result([])
    return everything


def wait_all(futures):
    """The values of all of them, once they are there; raises the first exception."""
    return [future.wait() for future in collect_all(futures).wait()]
