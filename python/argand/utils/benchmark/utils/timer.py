"""Timer: how long a statement takes."""
import enum
import timeit

import argand

from ...._surface.refusals import refused
from .common import Measurement, TaskSpec


def timer():
    """A clock, in seconds, read when all GPU work is done."""
    if argand.cuda.is_available():
        argand.cuda.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """The language of a statement.  Only Python can be measured."""
    PYTHON = 0
    CPP = 1


class Timer:
    """Measures a statement, by its text: with `setup` before each run, names of `globals` and `torch`, and num_threads threads."""

    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None,
                 description=None, env=None, num_threads=1, language=Language.PYTHON):
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError(f"torch.utils.benchmark.Timer: statements are Python's, got {language}")
        if global_setup:
            raise ValueError(f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        names = dict(globals or {})
        names.setdefault("torch", argand)
        stmt, setup = (_without_indent(text) for text in (stmt, setup))
        self._globals = names
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt=stmt, setup=setup, global_setup="", label=label, sub_label=sub_label, description=description,
                                   env=env, num_threads=num_threads)

    def _measured(self, number):
        return max(self._timer.timeit(number), 1e-9)

    def _with_threads(self, work):
        before = argand.get_num_threads()
        argand.set_num_threads(self._task_spec.num_threads)
        try:
            return work()
        finally:
            argand.set_num_threads(before)

    def timeit(self, number=1000000):
        """Measures `number` calls as one run, after some calls that are not measured."""
        def work():
            self._measured(max(number // 100, 2))
            return Measurement(number, [self._measured(number)], self._task_spec)
        return self._with_threads(work)

    def _block(self, min_run_time):
        """How many calls make reading the clock, and the setup, a small part of a run."""
        overhead = sorted(self._measured(0) for _ in range(5))[2]
        number = 1
        while True:
            took = self._measured(number)
            if overhead / took <= 1e-4 and took >= min_run_time / 1000 or took > min_run_time:
                return number
            number *= 10

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Runs of as many calls as make the clock negligible, until they took min_run_time; callback(number, seconds) after each."""
        def work():
            number = self._block(min_run_time)
            times = []
            while not times or sum(times) < min_run_time:
                times.append(self._measured(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self._task_spec)
        return self._with_threads(work)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Runs until the quartiles are within `threshold` of the median, or max_run_time is over."""
        def work():
            number = self._block(0.05)
            times = []
            while True:
                times.append(self._measured(number))
                if callback is not None:
                    callback(number, times[-1])
                found = Measurement(number, times, self._task_spec)
                near = len(times) > 3 and sum(times) > min_run_time and found.meets_confidence(threshold)
                if near or sum(times) >= max_run_time:
                    return found
        return self._with_threads(work)

    autorange = blocked_autorange
    collect_callgrind = refused("torch.utils.benchmark.Timer.collect_callgrind", "instructions are not counted; blocked_autorange() "
                                "measures time")


def _without_indent(text):
    import textwrap
    return textwrap.dedent(text).strip() if text else "pass"
