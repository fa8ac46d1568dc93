"""The report of a run: a table, the survivors, and whether it passed."""
from collections import Counter

STEPS = {"conformance": "tests_conformance", "kernels": "the other test programs", "parity": "parity with PyTorch"}


def described(fault):
    return f"{fault.file}:{fault.line}: {fault.function}: {fault.operator}: {fault.before} -> {fault.after}"


def report(verdicts, known, covered, dropped, parity_ran, seconds):
    """(lines, passed); `verdicts` is {fault: Verdict}."""
    killed = {f.key for f, v in verdicts.items() if v.step}
    survivors = [f for f, v in verdicts.items() if not v.step]
    listed = [f for f in survivors if f.key in known.reasons]
    unlisted = [f for f in survivors if f.key not in known.reasons]
    stale = list(known.stale(killed, {f.key for f in verdicts}, covered))
    steps = Counter(v.step for v in verdicts.values())
    lines = [f"{len(verdicts):5} faults planted ({dropped} more did not compile)"]
    lines += [f"{steps[step]:5} found by {name}" for step, name in STEPS.items()]
    lines += [f"{len(listed):5} are no faults, as known.txt says", f"{len(unlisted):5} survive"]
    real = len(killed) + len(unlisted)
    lines.append(f"{100 * len(killed) / real if real else 100:.1f} % of the faults are found; {seconds:.0f} s")
    if not parity_ran:
        lines.append("without the comparison with PyTorch, which finds some that survive here")
    lines.append("barriers of GPUs' kernels were left out: they need a GPU")
    lines += ["", *_by_operator(verdicts)]
    if unlisted:
        lines += ["", "survivors, each to be found by a stronger test, or listed in tools/mutants/known.txt with the reason why it is no fault:"]
        for f in unlisted:
            reach = verdicts[f].by
            lines += [f"  {described(f)}{f'  ({reach})' if reach else ''}", f"    {' | '.join(f.key)} | "]
    lines += ["", *stale] if stale else []
    return lines, not unlisted and not stale


def _by_operator(verdicts):
    table = {}
    for fault, verdict in verdicts.items():
        table.setdefault(fault.operator, Counter())[verdict.step or "survived"] += 1
    columns = (*STEPS, "survived")
    yield f"{'operator':14}" + "".join(f"{c:>13}" for c in columns)
    for operator in sorted(table):
        yield f"{operator:14}" + "".join(f"{table[operator][c] or '':>13}" for c in columns)
