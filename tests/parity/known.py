"""Lists of known differences from PyTorch: each line of such a file says what differs and why that is meant.

    WHERE | DIFFERENCE | REASON

An empty reason is an error, a difference without a line is a failure, and so is a line that no difference matches any more: the list
says what is so.  A script decides which lines a run can tell about (`covered`); the lines of other runs are left alone.
"""
import math
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


class Line:
    def __init__(self, number, fields):
        self.number, (self.where, *_, self.difference, self.reason) = number, fields
        self.fields, self.used = fields, 0


class Known:
    def __init__(self, path, fields=3):
        self.path, self.lines = path, []
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if not text.strip() or text.startswith("#"):
                continue
            parts = [part.strip() for part in text.split(" | ")]
            if len(parts) != fields or not all(parts):
                sys.exit(f"{path}:{number}: expected {fields} fields that are not empty: {text}")
            self.lines.append(Line(number, parts))

    def explains(self, matches):
        """Whether a line for which matches(line) holds explains a difference; all of these count as used."""
        found = [line for line in self.lines if matches(line)]
        for line in found:
            line.used += 1
        return bool(found)

    def stale(self, covered=lambda line: True):
        """Prints the lines that explain nothing, of those that this run could have needed; gives their number."""
        unused = [line for line in self.lines if not line.used and covered(line)]
        for line in unused:
            print(f"{self.path.name}:{line.number}: nothing differs like this any more: {' | '.join(line.fields)}")
        return len(unused)
