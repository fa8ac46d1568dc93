"""Lists of what is known to differ: lines of `PATTERN  REASON`, kept exact in both directions.

A pattern is one of fnmatch; {a,b} in it stands for several, each of which must name something.
"""
import fnmatch
import pathlib


def expanded(pattern):
    before, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    choices, _, after = rest.partition("}")
    return [before + choice + after for choice in choices.split(",")]


class Known:
    """Patterns with their reasons, from a file: a pattern ends at the first two spaces, # begins a comment."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.reasons = {}
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, _, reason = line.partition("  ")
            patterns = expanded(pattern)
            if not reason.strip() or not self.reasons.keys().isdisjoint(patterns):
                raise ValueError(f"{path}:{number}: expected a new pattern, two spaces and a reason")
            self.reasons.update(dict.fromkeys(patterns, reason.strip()))

    def differences(self, found):
        """What is wrong: names of `found` on no line, and lines that name nothing in it."""
        used, out = set(), []
        for name in sorted(found):
            matching = {pattern for pattern in self.reasons if pattern == name or fnmatch.fnmatchcase(name, pattern)}
            used |= matching
            if not matching:
                out.append(f"{name}: not in {self.path.name}")
        return out + [f"{pattern}: in {self.path.name}, but nothing of that name differs"
                      for pattern in self.reasons if pattern not in used]
