"""The calls of vmap that this thread is in."""
import contextlib
import threading


class _Levels(threading.local):
    """The calls of vmap that this thread is in, the innermost last."""

    of_thread = ()
    depth = 0  # how many transforms this thread is in, those that take gradients among them

    @contextlib.contextmanager
    def deeper(self):
        """The scope of a transform."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    @contextlib.contextmanager
    def entered(self, level):
        """The scope of a function that vmap maps."""
        with self._set((*self.of_thread, level)), self.deeper():
            yield

    def outside(self, level):
        """A scope around the function of a level."""
        try:
            return self._set(self.of_thread[:self.of_thread.index(level)])
        except ValueError:
            return self._set(self.of_thread)

    @contextlib.contextmanager
    def _set(self, some):
        before = self.of_thread
        self.of_thread = some
        try:
            yield
        finally:
            self.of_thread = before


levels = _Levels()
rules = None  # func/_rules.py, once vmap() has been imported: there is no level before


def active():
    return bool(levels.of_thread)


def is_further_in(args, depth):
    """Whether one of the arguments stands for a slice within a vmap that is further in than a transform of this depth."""
    level = rules.level_of(args) if active() else None
    return level is not None and level.number > depth
