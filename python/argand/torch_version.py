"""The version that programs for PyTorch compare."""
import itertools
import re

# The release of PyTorch whose names and behaviour the package follows; `python -m argand` names it to programs.
FOLLOWED = "2.15.0"


def _release(version):
    """The numbers of a version: "2.15.0+cpu" and (2, 15) are (2, 15, 0) and (2, 15)."""
    if isinstance(version, (tuple, list)):
        return tuple(int(v) for v in version)
    found = re.match(r"\s*v?(\d+(?:\.\d+)*)", str(version))
    if found is None:
        raise ValueError(f"Invalid version: {str(version)!r}")
    return tuple(int(v) for v in found.group(1).split("."))


class TorchVersion(str):
    """A version as text that compares by its numbers, with texts and tuples: "2.15.0" > "2.6", "2.15.0" >= (2, 6)."""

    def _order(self, other):
        for mine, others in itertools.zip_longest(_release(self), _release(other), fillvalue=0):
            if mine != others:
                return 1 if mine > others else -1
        return 0

    def _compare(self, other, holds, as_text):
        try:
            return holds(self._order(other))
        except (ValueError, TypeError):
            return as_text(str(self), other)

    def __lt__(self, other):
        return self._compare(other, lambda o: o < 0, str.__lt__)

    def __le__(self, other):
        return self._compare(other, lambda o: o <= 0, str.__le__)

    def __gt__(self, other):
        return self._compare(other, lambda o: o > 0, str.__gt__)

    def __ge__(self, other):
        return self._compare(other, lambda o: o >= 0, str.__ge__)

    def __eq__(self, other):
        if isinstance(other, str) and str.__eq__(self, other):
            return True
        return self._compare(other, lambda o: o == 0 and not _local(self) and not _local(other), str.__eq__)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def _local(version):
    return isinstance(version, str) and "+" in version
