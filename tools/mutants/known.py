"""The list of faults that no test can find, in known.txt: each line names a fault and says why it is none.

    FILE | FUNCTION | OPERATOR | BEFORE -> AFTER | OCCURRENCE | REASON
"""
import sys


class Known:
    def __init__(self, path):
        self.reasons, self.lines = {}, {}
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if not text.strip() or text.startswith("#"):
                continue
            parts = [part.strip() for part in text.split(" | ")]
            if len(parts) < 6 or not all(parts):
                sys.exit(f"{path}:{number}: expected 6 fields that are not empty: {text}")
            # The texts of a fault may hold a ` | ` of their own.
            key = (*parts[:3], " | ".join(parts[3:-2]), parts[-2])
            if key in self.reasons:
                sys.exit(f"{path}:{number}: the second line of this fault")
            self.reasons[key], self.lines[key] = parts[-1], number

    def stale(self, killed, planted, covered):
        """Messages about lines that are no longer true; `covered(file)` says which files this run can judge."""
        for key, number in self.lines.items():
            if key in killed:
                yield f"known.txt:{number}: a test finds this fault now: {' | '.join(key)}"
            elif key not in planted and covered(key[0]):
                yield f"known.txt:{number}: no such fault is planted any more: {' | '.join(key)}"
