#!/usr/bin/env python3
"""Plants faults in the kernels, and tells which of them the tests find: `./dev mutants` (docs/design/0013-mutants.md).

The sources are copied to build/mutants with all faults in them, each a choice at run time, and built once.  A run without faults
records which tests come by which fault's place.  Then each fault is switched on by the environment variable ARGAND_MUTANT, and these
tests run until one fails.  It fails if a fault survives that known.txt does not list, or if known.txt lists one that does not.
"""
import argparse
import concurrent.futures
import json
import os
import sys
import time
from pathlib import Path

import operators
from draw import drawn
from judge import BrokenWithoutFault, Judge, Record, Verdict, python_with_torch
from known import Known
from plant import COPY, ROOT, CannotBuild, build
from report import described, report
from source import Source

SEED, COUNT = 1, 320
MOST = 4096  # as in runtime.cpp
FOLDERS = ("argand/kernels", "argand/kernels/cpu", "argand/kernels/math")
ONLY_ON_GPUS = ("argand/kernels/math/device.h",)
KNOWN = Path(__file__).with_name("known.txt")


def kernels():
    """The files in which faults are planted."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).iterdir()):
            file = str(path.relative_to(ROOT))
            if path.suffix in (".h", ".cpp", ".inc") and not path.stem.endswith("_test") and file not in ONLY_ON_GPUS:
                yield file


def numbered(faults):
    """{fault: number}; each keeps the number of the last run, so that no file is compiled anew for another number alone."""
    path = COPY / "numbers.json"
    before = {tuple(key): n for key, n in json.loads(path.read_text())} if path.exists() else {}
    kept = {f: before[f.key] for f in faults if f.key in before}
    free = (n for n in range(MOST) if n not in set(kept.values()))
    numbers = {f: kept[f] if f in kept else next(free) for f in faults}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([[f.key, n] for f, n in numbers.items()]))
    return numbers


def say(text):
    print(f"mutants: {text}", flush=True)


def save(verdicts):
    (COPY / "verdicts.json").write_text(json.dumps([[f.key, [v.step, v.by, v.seconds]] for f, v in verdicts.items()]))


def judged(faults, numbers, verdicts, jobs, torch_python):
    """Adds to the verdicts; what is known is saved after each, for a run that is interrupted."""
    record = Record.made(say)
    judge = Judge(record, torch_python)

    def one(fault):
        if numbers[fault] not in record.places:
            return fault, Verdict("", "no test comes by", 0)
        return fault, judge(numbers[fault])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done, (fault, verdict) in enumerate(pool.map(one, faults), 1):
            verdicts[fault] = verdict
            save(verdicts)
            say(f"{done}/{len(faults)} {verdict.seconds:.0f} s {verdict.step or 'SURVIVES'} ({verdict.by}) {described(fault)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, help="how many faults to draw, at most")
    parser.add_argument("--seed", type=int, default=SEED, help="what they are drawn with; known.txt is for the seed %(default)s")
    parser.add_argument("--files", default="", help="only in files whose path has this in it")
    parser.add_argument("--survivors", action="store_true", help="judge only those again that survived the last run unlisted, or that it did not come to")
    parser.add_argument("--without-parity", action="store_true", help="leave out the comparison with PyTorch, which some faults need to be found")
    parser.add_argument("--list", action="store_true", help="print the faults that would be planted, and stop")
    parser.add_argument("--self-test", action="store_true", help="check the operators on sample texts, and stop")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("ARGAND_JOBS", os.cpu_count())))
    options = parser.parse_args()
    if options.self_test:
        import self_test
        return self_test.main()
    started = time.time()
    possible = [f for file in kernels() for f in operators.faults_of(file, Source((ROOT / file).read_text()))]
    chosen = drawn(possible, options.seed, options.count)
    numbers = numbered(chosen)
    wanted = [f for f in chosen if options.files in f.file]
    if options.list:
        for fault in wanted:
            print(described(fault))
        return 0
    torch_python = None if options.without_parity else python_with_torch(ROOT)
    if not torch_python and not options.without_parity:
        print("mutants: skipped: some faults are found by the comparison with PyTorch alone, and there is no Python that has it "
              "(`./dev parity` installs one, ARGAND_TORCH_PYTHON may name one, --without-parity does without)")
        return 77
    known, last = Known(KNOWN), COPY / "verdicts.json"
    before = {tuple(k): Verdict(*v) for k, v in json.loads(last.read_text())} if options.survivors and last.exists() else {}
    try:
        built = build(chosen, numbers, options.jobs, say)
        say(f"{len(built)} faults are built after {time.time() - started:.0f} s")
        wanted = [f for f in wanted if f in set(built)]
        again = [f for f in wanted if f.key not in before or (not before[f.key].step and f.key not in known.reasons)]
        verdicts = {f: before[f.key] for f in wanted if f not in set(again)}
        judged(again, numbers, verdicts, options.jobs, torch_python)
    except (CannotBuild, BrokenWithoutFault) as e:
        print(e)
        return 1
    lines, passed = report(verdicts, known, lambda file: options.files in file, len(chosen) - len(built),
                           torch_python, time.time() - started)
    (COPY / "report.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
