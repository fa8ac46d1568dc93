"""Chooses which of all possible faults are planted.

Faults are ordered by a hash of the seed and of what names them, so that a change of one function changes the choice there alone.
Files take turns; one with more places takes part in more rounds.  No two faults share text.
"""
import hashlib
import math
from collections import Counter, defaultdict

MOST_IN_FUNCTION = 4
PLACES_PER_ROUND = 120  # a file with so many places takes part in one round more
# How often an operator is drawn where it finds as many places as another: what is rare in the text shall not be rare here.
WEIGHT = {"sign": 0.5, "term": 0.5, "factor": 0.7, "comparison": 1, "index": 1, "stride": 1.5, "bound": 1.5, "start": 1.5, "constant": 2,
          "accumulation": 4, "chunk": 8, "cast": 5}


def fraction(*texts):
    """A number in (0, 1] that the texts determine."""
    return (int.from_bytes(hashlib.sha256("|".join(texts).encode()).digest()[:6], "big") + 1) / 2**48


def waiting(seed, fault):
    """An exponential waiting time: the least of several belongs to each in proportion to its weight."""
    return -math.log(fraction(str(seed), *fault.key)) / WEIGHT.get(fault.operator, 1)


def overlaps(a, b):
    return a.file == b.file and (a.start < b.end and b.start < a.end or a.start == b.start)


def drawn(faults, seed, count):
    """At most `count` of the faults, by file and line."""
    by_file, chosen = defaultdict(list), []
    for fault in sorted(faults, key=lambda f: waiting(seed, f)):
        by_file[fault.file].append(fault)
    files = sorted(by_file, key=lambda file: fraction(str(seed), file))
    rounds = {file: 3 + len(by_file[file]) // PLACES_PER_ROUND for file in files}
    in_function, operators = Counter(), defaultdict(Counter)
    for turn in range(max(rounds.values(), default=0)):
        for file in files:
            if turn >= rounds[file] or len(chosen) >= count:
                continue
            # The operator that this file has met least comes next, so that the frequent ones do not crowd out the others.
            for fault in sorted(by_file[file], key=lambda f: operators[file][f.operator]):
                if in_function[file, fault.function] >= MOST_IN_FUNCTION or any(overlaps(fault, c) for c in chosen):
                    continue
                chosen.append(fault)
                by_file[file].remove(fault)
                in_function[file, fault.function] += 1
                operators[file][fault.operator] += 1
                break
    return sorted(chosen, key=lambda f: (f.file, f.start))
