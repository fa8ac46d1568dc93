#!/usr/bin/env python3
"""Runs PyTorch's own Python test files, from an unpacked source tree of PyTorch, against Argand.

    suite.py --sources PYTORCH [--with PYTHON] [-k PATTERN]... [--jobs N] [--table FILE] [--results FILE] [FILE...]
    suite.py --take RESULTS [--table FILE] [FILE...]

A FILE is named from the tree's folder test, as test_torch or distributions/test_distributions; without any, those of FILES.  Each runs in
processes of its own, under limits of time for a test and of memory.  A test that ends or stops its process counts as crashed, and the file
goes on after it.  Differences that are known stand in suite_known.txt (FILE::CLASS.TEST | REASON, patterns allowed); any other is a
failure, and so is a line of a file that ran whole and that explains nothing.  With --with, the tests that failed run with the PyTorch of
that Python, too: those that it does not pass either are counted as outdated, and are no difference of ours.  --table writes the counts as
Markdown.  --jobs runs so many processes at once, and deals the tests of large files to several.  --take judges what earlier runs wrote by
--results, and runs nothing.  The exit status is 1 where something differs.  Last `N passed, N failed`.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from known import Known  # noqa: E402

FILES = ["test_torch", "test_indexing", "test_view_ops", "test_shape_ops", "test_type_promotion", "test_sort_and_select",
         "test_scatter_gather_ops", "test_tensor_creation_ops", "test_numpy_interop", "test_serialization", "test_autograd", "test_optim",
         "optim/test_lrscheduler", "test_reductions", "test_unary_ufuncs", "test_binary_ufuncs", "test_foreach", "test_complex",
         "test_linalg", "test_spectral_ops", "test_nn", "test_modules", "test_dataloader", "test_overrides", "test_fx",
         "distributions/test_distributions", "test_multiprocessing", "test_namedtuple_return_api", "test_segment_reductions",
         "distributions/test_constraints", "distributions/test_transforms", "test_tensorboard", "test_hub", "profiler/test_profiler", "test_python_dispatch",
         "functorch/test_eager_transforms", "functorch/test_vmap",
         "nn/test_convolution", "nn/test_dropout", "nn/test_embedding", "nn/test_init", "nn/test_lazy_modules", "nn/test_load_state_dict",
         "nn/test_module_hooks", "nn/test_multihead_attention", "nn/test_packed_sequence", "nn/test_parametrization", "nn/test_pooling",
         "nn/test_pruning"]
OUTCOMES = ("passed", "failed", "error", "skipped", "crashed", "not run", "outdated")
BAD = ("failed", "error", "crashed", "not run")
IMPORT_SECONDS = 120  # until a file has told its tests
LOOK_SECONDS = 0.2  # between looks at memory and processor time
PART_BYTES = 100_000  # of a file of tests that one process runs, where several are allowed
WORKING, PATIENCE = 0.1, 5  # the share of a processor of a test that works, and how many times the limit it may then take


class Outcome:
    def __init__(self, kind, text=""):
        self.kind, self.text = kind, text


def used(pid):
    """Bytes of memory that a process and those it started have, and seconds of processors that they took."""
    total, seconds, children = 0, 0, collections.defaultdict(list)
    ticks = os.sysconf("SC_CLK_TCK")
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        time_taken = (int(fields[11]) + int(fields[12])) / ticks
        if int(name) == pid:
            seconds += time_taken
        children[int(fields[1])].append((int(name), int(fields[21]), time_taken))
    waiting = [pid]
    try:
        total = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0, 0
    while waiting:
        for child, pages, time_taken in children[waiting.pop()]:
            total += pages
            seconds += time_taken
            waiting.append(child)
    return total * os.sysconf("SC_PAGE_SIZE"), seconds


class Process:
    """A worker, what it has said, and its end."""

    def __init__(self, command, folder, job, options):
        self.events = folder / "events"
        self.events.write_text("")
        (folder / "job").write_text(json.dumps(job))
        self.output = open(folder / "output", "w+", errors="replace")
        self.process = subprocess.Popen([*command, str(HERE / "worker.py"), str(self.events), str(folder / "job")], stdout=self.output,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.options, self.read, self.names, self.outcomes, self.current, self.done = options, 0, None, {}, None, False
        self.since = time.monotonic()

    def hear(self):
        with open(self.events) as file:
            file.seek(self.read)
            for line in iter(file.readline, ""):
                if not line.endswith("\n"):
                    break
                self.read += len(line)  # the lines are ASCII
                self.take(json.loads(line))

    def take(self, event):
        self.since = time.monotonic()
        if "tests" in event:
            self.names = event["tests"]
        elif "begin" in event:
            self.current = event["begin"]
        elif "end" in event:
            self.outcomes[event["end"]] = Outcome(event["outcome"], event["text"])
            self.current = None
        self.done = self.done or "done" in event or event.get("end") == "(import)"

    def run(self, deadline):
        """Watches it to its end; what ended it, or None where it came through."""
        why, looked, measured_since, before = None, 0, self.since, 0
        while self.process.poll() is None and not why:
            time.sleep(0.05)
            self.hear()
            now = time.monotonic()
            if self.done and now - self.since > 5:
                break  # it does not end by itself
            if now > deadline:
                why = "the file's time is over"
            if why or now - looked < LOOK_SECONDS * (1 + self.options.jobs / 4):  # a look at all processes takes milliseconds
                continue
            looked = now
            memory, taken = used(self.process.pid)
            if measured_since != self.since:
                measured_since, before = self.since, taken
            limit = self.options.seconds if self.names else IMPORT_SECONDS
            # On a machine that does other work, too, a test that still computes is measured by its processor time.
            works = taken - before > (now - self.since) * WORKING and taken - before < limit
            if now - self.since > limit * (PATIENCE if works else 1):
                why = f"hangs: no end within {limit:g} seconds"
            elif memory > self.options.memory * 2**30:
                why = f"memory: more than {self.options.memory:g} GiB"
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # and what it started
        except ProcessLookupError:
            pass
        status = self.process.wait()
        self.hear()
        if self.done:
            return None
        self.output.seek(0)
        last = self.output.read()[-1500:]
        return why or (f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}") + "\n" + last


def run_file(command, file, options, sources, tests=None, part=(0, 1)):
    """Outcomes of the tests of a file, or of a part (number, of how many) of them, by their names."""
    outcomes, deadline = {}, time.monotonic() + options.file_seconds
    path = Path(options.sources).resolve() / "test" / (file + ".py")
    if not path.exists():
        return {"(import)": Outcome("error", f"no file {path}")}
    while True:
        with tempfile.TemporaryDirectory() as folder:
            job = {"file": str(path), "tests_folder": str(Path(options.sources).resolve() / "test"), "sources": sources, "tests": tests,
                   "part": part}
            worker = Process(command, Path(folder), job, options)
            why = worker.run(deadline)
        outcomes.update(worker.outcomes)
        if why is None:
            return outcomes
        if not worker.names:
            return {**outcomes, "(import)": Outcome("crashed", why)}
        wanted = [name for name in worker.names if tests is None or any(fnmatch.fnmatchcase(name, test) for test in tests)]
        left = [name for name in wanted if name not in worker.outcomes]
        crashed = worker.current or (left[0] if left else None)
        if crashed is None:
            return outcomes
        over = time.monotonic() > deadline  # then it is not this test that took too long
        outcomes[crashed] = Outcome("not run" if over else "crashed", why)
        tests = [name for name in left if name != crashed]
        if over:
            outcomes.update({name: Outcome("not run", "the file's time is over") for name in tests})
            return outcomes
        if not tests:
            return outcomes


def judged(file, options, part):
    """Outcomes of a part of a file, and with a peer, what it says of those that are bad."""
    sources = None if options.plain else str(Path(options.sources).resolve())
    ours = [sys.executable, "-B"] + ([] if options.plain else ["-m", "argand"])
    outcomes = run_file(ours, file, options, sources, options.patterns, part)
    bad = [name for name, outcome in outcomes.items() if outcome.kind in BAD]
    if options.peer and bad and bad != ["(import)"]:
        theirs = run_file([options.peer, "-B"], file, options, None, bad)
        if theirs.keys() == {"(import)"}:  # it says nothing of the tests
            print(f"{file}: {options.peer} does not load it: {theirs['(import)'].text.splitlines()[0][:200]}")
            return outcomes
        for name in bad:
            if theirs.get(name, Outcome("absent")).kind != "passed" and outcomes[name].kind != "crashed":
                outcomes[name].kind = "outdated"
    return outcomes


def parts_of(file, options):
    """To how many processes the tests of a file are dealt: of those over tables of ops or modules there are thousands."""
    path = Path(options.sources) / "test" / (file + ".py")
    text = path.read_text() if path.exists() else ""
    return options.jobs if "@ops(" in text or "@modules(" in text else min(options.jobs, 1 + len(text) // PART_BYTES)


def outcomes_of(files, options):
    """(file, outcomes) in the order of the files: run now, or taken from earlier runs."""
    if options.take:
        earlier = {}
        for path in options.take:
            for file, outcomes in json.loads(Path(path).read_text()).items():
                earlier.setdefault(file, {}).update({name: Outcome(*outcome) for name, outcome in outcomes.items()})
        yield from ((file, earlier[file]) for file in files or earlier)
        return
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = []
        for file in files or FILES:
            parts = parts_of(file, options)
            running.append((file, [pool.submit(judged, file, options, (part, parts)) for part in range(parts)]))
        for file, parts in running:
            outcomes = {}
            for part in parts:
                outcomes.update(part.result())
            yield file, outcomes


def table(counts, path):
    """The counts in Markdown."""
    lines = ["# PyTorch's own Python tests", "", "Written by `tests/peer/suite.py --table`: what became of the tests of PyTorch's files.  "
             "Skipped are", "those that the tests themselves skip on this machine, not run those for which a file's time was too short, "
             "outdated those that", "PyTorch does not pass here either.", "",
             "| file | " + " | ".join(OUTCOMES) + " |", "|---|" + "---:|" * len(OUTCOMES)]
    rows = [*counts.items(), ("all", sum(counts.values(), collections.Counter()))]
    lines += ["| " + " | ".join([file, *(str(count[kind]) for kind in OUTCOMES)]) + " |" for file, count in rows]
    Path(path).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--sources", help="an unpacked source tree of PyTorch")
    source.add_argument("--take", action="append", metavar="RESULTS", help="judges what an earlier run wrote, or several")
    parser.add_argument("--with", dest="peer", help="a Python that has PyTorch")
    parser.add_argument("-k", dest="patterns", action="append", help="only the tests CLASS.TEST that this pattern names, or another -k")
    parser.add_argument("--seconds", type=float, default=120, help="for a test (%(default)s): of processors, while it works")
    parser.add_argument("--file-seconds", type=float, default=3600, help="for a file (%(default)s)")
    parser.add_argument("--memory", type=float, default=6, help="GiB for a file's processes (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (%(default)s)")
    parser.add_argument("--known", default=str(HERE / "suite_known.txt"), help="the list of known differences")
    parser.add_argument("--table", help="where to write the counts as Markdown")
    parser.add_argument("--results", help="where to write every outcome as JSON")
    parser.add_argument("--plain", action="store_true", help="without the adapter: the files need no PyTorch")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()

    known, counts, everything, unknown = Known(options.known, fields=2), {}, {}, 0
    for file, outcomes in outcomes_of([name.removesuffix(".py") for name in options.files], options):
        counts[file] = collections.Counter(outcome.kind for outcome in outcomes.values())
        everything[file] = {name: [outcome.kind, outcome.text] for name, outcome in outcomes.items()}
        if options.results:  # so far
            Path(options.results).write_text(json.dumps(everything, indent=1))
        for name, outcome in outcomes.items():
            if outcome.kind in BAD and not known.explains(lambda line: line.names(f"{file}::{name}")):
                unknown += 1
                print(f"{outcome.kind}: {file}::{name}: {(outcome.text.strip().splitlines() or [''])[0][:200]}")
        print(f"{file}: " + ", ".join(f"{counts[file][kind]} {kind}" for kind in OUTCOMES if counts[file][kind]), flush=True)
    if not options.patterns:
        stale = known.stale(lambda line: line.where.partition("::")[0] in counts)
        unknown += len(stale)
        print("".join(line + "\n" for line in stale), end="")
    if options.table:
        table(counts, options.table)
    print(f"{sum(count['passed'] for count in counts.values())} passed, {unknown} failed")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
