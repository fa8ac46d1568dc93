"""What was measured: Measurement, and TaskSpec, which says of what."""
import collections
import dataclasses
import math
import textwrap
import typing

import numpy as np

_MAX_SIGNIFICANT_FIGURES = 4
_MIN_CONFIDENCE_INTERVAL = 25e-9  # seconds: what a clock tells apart
_IQR_WARN_THRESHOLD, _IQR_GROSS_WARN_THRESHOLD = 0.1, 0.25
_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """The statement that was measured, and its names."""
    stmt: str
    setup: str
    global_setup: str = ""
    label: typing.Optional[str] = None
    sub_label: typing.Optional[str] = None
    description: typing.Optional[str] = None
    env: typing.Optional[str] = None
    num_threads: int = 1

    @property
    def title(self):
        """The label, or the statement."""
        name, of_many_lines = self.label, "\n" in self.stmt
        if name is None:
            name = "stmt:" if of_many_lines else self.stmt
        if self.sub_label:
            name += f": {self.sub_label}"
        return name + "\n" + textwrap.indent(self.stmt, "  ") if self.label is None and of_many_lines else name

    def setup_str(self):
        """The setup, if it does something."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self):
        """Title, description and setup, on lines of their own."""
        sections = [s for s in (self.title, self.description or "", self.setup_str()) if s]
        return "\n".join(f"{s}\n" if "\n" in s else s for s in sections)


@dataclasses.dataclass(init=True, repr=False)
class Measurement:
    """Times of runs of one statement, each of number_per_run calls."""
    number_per_run: int
    raw_times: typing.List[float]
    task_spec: TaskSpec
    metadata: typing.Optional[typing.Dict[typing.Any, typing.Any]] = None

    def __getattr__(self, name):
        if name.startswith("__") or not hasattr(TaskSpec, name) and name not in TaskSpec.__dataclass_fields__:
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self):
        """The seconds of a call, by run."""
        return [t / self.number_per_run for t in self.raw_times]

    def _some(self):
        if not self.raw_times:
            raise ValueError("No measurements to compute")
        return self.times

    @property
    def mean(self):
        """The mean of times."""
        return float(np.mean(self._some()))

    @property
    def median(self):
        """The median of times."""
        return float(np.median(self._some()))

    @property
    def iqr(self):
        """The interquartile range of times."""
        low, high = np.percentile(self._some(), [25, 75])
        return float(high - low)

    @property
    def significant_figures(self):
        """How many digits of the median are known: those that a 90% confidence interval of the middle half leaves."""
        times = sorted(self._some())
        middle = np.array(times[len(times) // 4:math.ceil(3 * len(times) / 4)])
        interval = max(1.645 * float(np.std(middle)) / math.sqrt(len(middle)), _MIN_CONFIDENCE_INTERVAL)
        return int(min(max(math.floor(math.log10(self.median / interval)), 1), _MAX_SIGNIFICANT_FIGURES))

    @property
    def has_warnings(self):
        """Whether the times are too different to be trusted."""
        return self.iqr / self.median > _IQR_WARN_THRESHOLD

    def meets_confidence(self, threshold=_IQR_WARN_THRESHOLD):
        """Whether the quartiles are near."""
        return self.iqr / self.median < threshold

    @property
    def title(self):
        """The title of the task."""
        return self.task_spec.title

    @property
    def env(self):
        """The environment."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self):
        """The name of the measurement in a table."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self):
        unit, scale = select_unit(self.median)
        lines = [super().__repr__(), self.task_spec.summarize()]
        count = len(self.raw_times)
        if count == 1:
            lines.append(f"  {self.median / scale:.2f} {unit}")
        else:
            low, high = np.percentile(self.times, [25, 75])
            lines += [f"  Median: {self.median / scale:.2f} {unit}"]
            if count > 2:
                lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})")
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}".strip() + (" " if count == 1 else "")
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {runs}, {threads}")
        if self.has_warnings:
            gross = self.iqr / self.median > _IQR_GROSS_WARN_THRESHOLD
            lines += [f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.",
                      "           This suggests significant environmental influence." if gross else
                      "           This could indicate system fluctuation."]
        return "\n".join(lines)

    @staticmethod
    def merge(measurements):
        """Merges measurements of the same task, so that there is one for each."""
        groups = collections.defaultdict(list)
        for m in measurements:
            groups[m.task_spec].append(m)
        return [Measurement(1, [t for m in group for t in m.times], spec) for spec, group in groups.items()]


def select_unit(t):
    """(unit, its seconds) in which a time is best said."""
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3), "s")
    return unit, _SCALES[unit]


def unit_to_english(u):
    """A unit's name."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x, n):
    """x with n significant figures."""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10 ** (math.ceil(math.log10(abs(x))) - n)
    return float(round(x / scale) * scale)


def ordered_unique(elements):
    """The elements without repetitions."""
    return list(dict.fromkeys(elements))
