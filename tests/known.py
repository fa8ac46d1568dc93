"""Lists of known differences from PyTorch: each line of such a file says what differs and why that is meant.

    WHERE | DIFFERENCE | REASON      of a list that says how something differs
    NAME | REASON                    of a list of names

Some lists have more fields between WHERE and DIFFERENCE.  An empty field is an error, a difference without a line is a
failure, and so is a line that no difference matches any more: the list says what is so.  A script decides which lines a
run can tell about (`covered`); the lines of other runs are left alone.  A NAME may be a pattern of fnmatch; {a,b} in it
stands for several, each of which must name something.
"""
import fnmatch
import math
import pathlib
import re
import sys

DIFFER = re.compile(r"(.*values differ by )< (\S+)$")
SIZE = re.compile(r"(.*values differ by )(\S+) of the largest")


def describes(difference, note):
    """Whether a line's DIFFERENCE is a part of what a run says; `values differ by < X` also bounds by how much."""
    limit = DIFFER.match(difference)
    if not limit:
        return difference in note
    size = SIZE.search(note)
    return bool(size) and limit[1] in note and not float(size[2]) > float(limit[2])


def kind_of(note):
    """The DIFFERENCE that a line may have for this: without what one sample alone has."""
    sizes = SIZE.match(note)
    if not sizes:
        return note[:90].strip()
    share = float(sizes[2])
    return f"{sizes[1]}< " + (f"{10.0 ** math.floor(math.log10(share) + 1):.0e}" if share < 1 else "inf")


def expanded(name):
    """Expands {a,b} in names."""
    before, brace, rest = name.partition("{")
    if not brace:
        return [name]
    choices, _, after = rest.partition("}")
    return [before + choice + after for choice in choices.split(",")]


class Line:
    def __init__(self, place, fields):
        self.place, self.fields, self.used = place, fields, 0
        self.where, self.difference, self.reason = fields[0], fields[-2], fields[-1]

    def names(self, name):
        return self.where == name or fnmatch.fnmatchcase(name, self.where)


class Known:
    """The lines of a file; a line with a wrong number of fields ends the program with a message."""

    def __init__(self, path, fields=3):
        self.path, self.lines = pathlib.Path(path), []
        for number, text in enumerate(self.path.read_text().splitlines(), 1):
            if not text.strip() or text.startswith("#"):
                continue
            parts = [part.strip() for part in text.split(" | ")]
            if len(parts) != fields or not all(parts):
                sys.exit(f"{path}:{number}: expected {fields} fields that are not empty: {text}")
            names = expanded(parts[0]) if fields == 2 else parts[:1]
            self.lines += [Line(f"{self.path.name}:{number}", [name, *parts[1:]]) for name in names]

    def explains(self, matches):
        """The lines for which matches(line) holds, which explain a difference; all of these count as used."""
        found = [line for line in self.lines if matches(line)]
        for line in found:
            line.used += 1
        return found

    def stale(self, covered=lambda line: True):
        """Messages about the lines that explained nothing, among those that this run could have needed."""
        return [f"{line.place}: nothing differs like this any more: {' | '.join(line.fields)}" for line in self.lines
                if not line.used and covered(line)]

    def wrong(self, names, covered=lambda line: True):
        """Messages about the `names` that no line covers, and about the lines that are not used."""
        found = [f"{name}: not in {self.path.name}" for name in sorted(names) if not self.explains(lambda line: line.names(name))]
        return found + self.stale(covered)
