"""Tables of measurements."""
import collections
import enum
import math

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

_BEST, _GOOD, _BAD, _VERY_BAD, _END = "\033[92m\033[1m", "\033[34m", "\033[2m\033[91m", "\033[31m\033[1m", "\033[0m\033[0m"


class Colorize(enum.Enum):
    """Among which numbers colours compare."""
    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _colored(text, value, best):
    if value <= best * 1.01 or value <= best + 100e-9:
        return _BEST + text + _END
    if value <= best * 1.1:
        return _GOOD + text + _END
    if value >= best * 5:
        return _VERY_BAD + text + _END
    return _BAD + text + _END if value >= best * 2 else text


class Compare:
    """A table for each label: a row for each sub_label and number of threads, a column for each description."""

    def __init__(self, results):
        self._results = []
        self.extend_results(results)
        self._trim_significant_figures, self._colorize, self._highlight_warnings = False, Colorize.NONE, False

    def __str__(self):
        return "\n".join(self._render())

    def extend_results(self, results):
        """Adds measurements."""
        results = list(results)
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Shows the digits that are known."""
        self._trim_significant_figures = True

    def colorize(self, rowwise=False):
        """Shows by colours how far from the best of the column, or row, a number is."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Marks numbers that are not to be trusted."""
        self._highlight_warnings = True

    def print(self):
        """Prints the tables."""
        print(str(self))

    def _render(self):
        groups = collections.defaultdict(list)
        for r in Measurement.merge(self._results):
            groups[r.label].append(r)
        return [self._table(group) for group in groups.values()]

    def _digits(self, column, scale):
        """(the width, the decimals) of the numbers of a column."""
        digits = [math.ceil(math.log10(m.median / scale)) for m in column]
        decimals = 1
        if self._trim_significant_figures:
            decimals = min(max(m.significant_figures - d, 0) for m, d in zip(column, digits))
        return max(digits) + decimals + (1 if decimals else 0), decimals

    def _number(self, m, scale, width, decimals):
        value = m.median / scale
        value = trim_sigfig(value, m.significant_figures) if self._trim_significant_figures else value
        warning = ""
        if self._highlight_warnings and m.has_warnings:
            warning = f" (! {m.iqr / m.median * 100:.0f}%)"
        return f"{value:>{width}.{decimals}f}{warning}"

    def _table(self, results):
        unit, scale = select_unit(min(r.median for r in results))
        titles = ordered_unique(r.description for r in results)
        keys = ordered_unique((r.num_threads, r.task_spec.env, r.as_row_name) for r in results)
        threads = ordered_unique(k[0] for k in keys)
        found = {(r.num_threads, r.task_spec.env, r.as_row_name, r.description): r for r in results}
        columns = {t: [r for r in results if r.description == t] for t in titles}
        forms = {t: self._digits(columns[t], scale) for t in titles}
        wide = max(len(k[1] or "") for k in keys) + 2
        names = {k: ("      " if k[1] is None else "  " + f"({k[1]})".ljust(wide) + "  ") + k[2] for k in keys}
        cells = {k: [self._number(found[*k, t], scale, *forms[t]) if (*k, t) in found else "" for t in titles] for k in keys}
        rows = [["", *(t or "" for t in titles)], *([names[k], *cells[k]] for k in keys)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]

        def line(name, parts):
            return "  |  ".join([name.ljust(widths[0]), *parts])
        head = line("", [t.center(w) for t, w in zip(rows[0][1:], widths[1:])])
        title = results[0].label or ""
        lines = ["[" + f" {title} ".center(len(head) - 2, "-") + "]", head]
        for count in threads:
            start = f"{count} threads: "
            lines.append(start + "-" * (len(head) - len(start)))
            for key in (k for k in keys if k[0] == count):
                parts = [self._shown(text.center(w), found.get((*key, t)), found, key, columns[t])
                         for text, w, t in zip(cells[key], widths[1:], titles)]
                lines.append(line(names[key], parts))
        lines += ["", f"Times are in {unit_to_english(unit)}s ({unit}).", ""]
        if self._highlight_warnings and any(r.has_warnings for r in results):
            lines[-1:] = ["(! XX%) Measurement has high variance, where XX is the IQR / median * 100.", ""]
        return "\n".join(lines)

    def _shown(self, text, measurement, found, key, column):
        if measurement is None or self._colorize is Colorize.NONE:
            return text
        rivals = ([r for k, r in found.items() if k[:3] == key] if self._colorize is Colorize.ROWWISE
                  else [r for r in column if r.num_threads == key[0]])
        return _colored(text, measurement.median, min(r.median for r in rivals))
