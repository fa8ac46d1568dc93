#!/usr/bin/env python3
"""Runs PyTorch's own Python test files, from an unpacked source tree of PyTorch, against Argand.

    suite.py --sources PYTORCH [--with PYTHON] [-k PATTERN]... [--jobs N] [--table FILE] [--results FILE] [FILE...]
    suite.py --take RESULTS [--table FILE] [FILE...]

A FILE is named from the tree's folder test, as test_torch or distributions/test_distributions; without any, those of FILES.  Each runs in
processes of its own, under limits of time for a test and of memory.  A test that ends or stops its process counts as crashed, and the file
goes on after it.  Differences that are known stand in suite_known.txt (FILE::CLASS.TEST | REASON, patterns allowed); any other is a
failure, and so is a line of a file that ran whole and that explains nothing.  With --with, failures that no line explains run with the PyTorch
of that Python, too: those that it does not pass either are counted as outdated, and are no difference of ours.  A reason that begins with
"not here:" says that the tests are about something that the library does not have, one that begins with "works here:" that a test fails
only because PyTorch refuses something, one with "outdated:" that a newer PyTorch fails it, too.  --table writes the counts into a Markdown file, between
its marks if it has them; the share is that of the tests that pass, of those whose subject is here and that PyTorch passes.  --jobs runs so
many processes at once.  --take judges what earlier runs wrote by --results, and runs nothing.  The exit status is 1 where something differs.
Last `N passed, N failed`.
"""
import argparse
import collections
import fnmatch
import functools
import json
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from known import Known  # noqa: E402

sys.path.insert(0, str(HERE))
from processes import File, Outcome, gpu_in_use  # noqa: E402

FILES = ["test_torch", "test_indexing", "test_view_ops", "test_shape_ops", "test_type_promotion", "test_sort_and_select",
         "test_scatter_gather_ops", "test_tensor_creation_ops", "test_numpy_interop", "test_serialization", "test_autograd", "autograd/test_complex",
         "autograd/test_functional", "test_optim",
         "optim/test_lrscheduler", "test_reductions", "test_unary_ufuncs", "test_binary_ufuncs", "test_foreach", "test_complex",
         "test_linalg", "test_spectral_ops", "test_nn", "test_modules", "test_dataloader", "test_overrides", "test_fx",
         "distributions/test_distributions", "test_multiprocessing", "test_namedtuple_return_api", "test_segment_reductions",
         "distributions/test_constraints", "distributions/test_transforms", "test_tensorboard", "test_hub", "profiler/test_profiler", "test_python_dispatch", "test_subclass", "test_pytree", "test_proxy_tensor", "test_fake_tensor",
         "functorch/test_eager_transforms", "functorch/test_vmap",
         "nn/test_convolution", "nn/test_dropout", "nn/test_embedding", "nn/test_init", "nn/test_lazy_modules", "nn/test_load_state_dict",
         "nn/test_module_hooks", "nn/test_multihead_attention", "nn/test_packed_sequence", "nn/test_parametrization", "nn/test_pooling",
         "nn/test_pruning"]
OUTCOMES = ("passed", "failed", "error", "skipped", "crashed", "not run", "outdated")
BAD = ("failed", "error", "crashed", "not run")
# How the reason of a line begins, by the column that counts its tests: those about something that the library does not have, and those of
# which all that fails is that PyTorch refuses something, and those that a newer PyTorch does not pass either.
REASONS = {"not here: ": "other subjects", "works here: ": "works here", "outdated: ": "outdated"}
GROUP = 25  # tests that one process runs


class Jobs:
    """Threads that do what they are given, in the order of `urgent` before `later`."""

    def __init__(self, count):
        self.urgent, self.later, self.changed, self.busy, self.failure = collections.deque(), collections.deque(), threading.Condition(), 0, None
        self.count = count

    def _work(self):
        while True:
            with self.changed:
                while not self.urgent and not self.later and self.busy and not self.failure:
                    self.changed.wait()
                if self.failure or not (self.urgent or self.later):
                    return
                job = (self.urgent or self.later).popleft()
                self.busy += 1
            try:
                job()
            except BaseException as error:
                self.failure = error
            with self.changed:
                self.busy -= 1
                self.changed.notify_all()

    def add(self, jobs):
        with self.changed:
            self.urgent.extend(jobs)
            self.changed.notify_all()

    def start(self):
        for _ in range(self.count):
            threading.Thread(target=self._work, daemon=True).start()


class FileRun:
    """One file among the jobs: its import, the groups of its tests, then the peer's word on those that are bad."""

    def __init__(self, file, options, jobs, explained):
        self.file, self.options, self.jobs, self.explained, self.outcomes = file, options, jobs, explained, {}
        self.path = Path(options.sources).resolve() / "test" / (file + ".py")
        self.lock, self.left, self.done = threading.Lock(), 0, threading.Event()

    def open(self):
        sources = None if self.options.plain else str(Path(self.options.sources).resolve())
        ours = [sys.executable, "-B"] + ([] if self.options.plain else ["-m", "argand"])
        self.tests = File(ours, self.path, self.options, sources, forks=not gpu_in_use())
        patterns = self.options.patterns
        wanted = [name for name in self.tests.names if patterns is None or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
        if self.tests.failure or not wanted:
            self.outcomes = {"(import)": self.tests.failure} if self.tests.failure else {}
            self.tests.close()
            self.done.set()
            return
        self.deal(wanted, self.outcomes.update, self.ask_peer)

    def deal(self, names, hear, then):
        """Groups of tests become jobs, each of which tells `hear` its outcomes; the last calls `then`."""
        # Neighbours take alike long, so each group has tests of all of the file.  Without forks each group imports the file.
        self.left = -(-len(names) // GROUP) if self.tests.forks else 1

        def run(some):
            outcomes = self.tests.run(some)
            with self.lock:
                hear(outcomes)
                self.left -= 1
                last = self.left == 0
            if last:
                self.tests.close()
                then()

        self.jobs.add([functools.partial(run, names[first::self.left]) for first in range(self.left)])

    def ask_peer(self):
        """The tests that no line explains, of the peer: then this file is done."""
        bad = [name for name, outcome in self.outcomes.items() if outcome.kind in BAD and not self.explained(self.file, name)]
        if not self.options.peer or not bad:
            self.done.set()
            return
        self.tests = File([self.options.peer, "-B"], self.path, self.options, None, forks=not gpu_in_use())
        if self.tests.failure:  # it says nothing of the tests
            print(f"{self.file}: {self.options.peer} does not load it: {self.tests.failure.text.splitlines()[0][:200]}")
            self.tests.close()
            self.done.set()
            return
        known = set(self.tests.names)
        for name in bad:
            if name not in known:
                self.outcomes[name].kind = "outdated"
        asked = [name for name in bad if name in known]
        if asked:
            self.deal(asked, self.hear_peer, self.done.set)
        else:
            self.tests.close()
            self.done.set()

    def hear_peer(self, theirs):
        for name, outcome in theirs.items():
            if name in self.outcomes and outcome.kind in ("failed", "error", "skipped") and self.outcomes[name].kind != "crashed":
                self.outcomes[name].kind = "outdated"


def outcomes_of(files, options, explained):
    """(file, outcomes) in the order of the files: run now, or taken from earlier runs."""
    if options.take:
        earlier = {}
        for path in options.take:
            for file, outcomes in json.loads(Path(path).read_text()).items():
                earlier.setdefault(file, {}).update({name: Outcome(*outcome) for name, outcome in outcomes.items()})
        yield from ((file, earlier[file]) for file in files or earlier)
        return
    jobs = Jobs(options.jobs)
    runs = [FileRun(file, options, jobs, explained) for file in files or FILES]
    jobs.later.extend(run.open for run in runs)
    jobs.start()
    for run in runs:
        while not run.done.wait(1):
            if jobs.failure:
                raise jobs.failure
        yield run.file, run.outcomes


COLUMNS = ("passed", "differ", "other subjects", "works here", "not explained", "outdated", "skipped")


def column_of(outcome, lines):
    """Where the table counts a test: one that is bad, by the lines that explain it."""
    if outcome.kind not in BAD:
        return outcome.kind
    if not lines:
        return "not explained"
    return next((column for words, column in REASONS.items() if any(line.reason.startswith(words) for line in lines)), "differ")


def table(counts, path):
    """The counts in Markdown."""
    def share(count):
        ours = count["passed"] + count["differ"] + count["not explained"]
        return f"{100 * count['passed'] / ours:.1f} %" if ours else ""

    rows = [*counts.items(), ("all", sum(counts.values(), collections.Counter()))]
    lines = ["| file | " + " | ".join(COLUMNS) + " | share |", "|---|" + "---:|" * (len(COLUMNS) + 1)]
    lines += ["| " + " | ".join([file, *(str(count[column]) for column in COLUMNS), share(count)]) + " |" for file, count in rows]
    text, begin, end = Path(path).read_text() if Path(path).exists() else "", "<!-- suite -->\n", "<!-- /suite -->\n"
    before, found, rest = text.partition(begin)
    after = rest.partition(end)[2] if found else ""
    Path(path).write_text(before + begin + "\n".join(lines) + "\n" + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--sources", help="an unpacked source tree of PyTorch")
    source.add_argument("--take", action="append", metavar="RESULTS", help="judges what an earlier run wrote, or several")
    parser.add_argument("--with", dest="peer", help="a Python that has PyTorch")
    parser.add_argument("-k", dest="patterns", action="append", help="only the tests CLASS.TEST that this pattern names, or another -k")
    parser.add_argument("--seconds", type=float, default=120, help="for a test (%(default)s): of processors, while it works")
    parser.add_argument("--file-seconds", type=float, default=3600, help="for a file (%(default)s)")
    parser.add_argument("--total-seconds", type=float, default=1e9, help="for all files: what has not run by then does not")
    parser.add_argument("--memory", type=float, default=8, help="GiB for a file's processes (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (%(default)s)")
    parser.add_argument("--known", default=str(HERE / "suite_known.txt"), help="the list of known differences")
    parser.add_argument("--table", help="a Markdown file for the counts")
    parser.add_argument("--results", help="where to write every outcome as JSON")
    parser.add_argument("--plain", action="store_true", help="without the adapter: the files need no PyTorch")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()

    known, counts, columns, everything, unknown = Known(options.known, fields=2), {}, {}, {}, 0
    options.until = time.monotonic() + options.total_seconds

    def explained(file, name):
        return known.explains(lambda line: line.names(f"{file}::{name}"))

    for file, outcomes in outcomes_of([name.removesuffix(".py") for name in options.files], options, explained):
        counts[file], columns[file] = collections.Counter(outcome.kind for outcome in outcomes.values()), collections.Counter()
        everything[file] = {name: [outcome.kind, outcome.text] for name, outcome in outcomes.items()}
        if options.results:  # so far
            Path(options.results).write_text(json.dumps(everything, indent=1))
        for name, outcome in outcomes.items():
            column = column_of(outcome, explained(file, name) if outcome.kind in BAD else [])
            columns[file][column] += 1
            if column == "not explained":
                unknown += 1
                print(f"{outcome.kind}: {file}::{name}: {(outcome.text.strip().splitlines() or [''])[0][:200]}")
        print(f"{file}: " + ", ".join(f"{counts[file][kind]} {kind}" for kind in OUTCOMES if counts[file][kind]), flush=True)
    if not options.patterns:
        stale = known.stale(lambda line: line.where.partition("::")[0] in counts)
        unknown += len(stale)
        print("".join(line + "\n" for line in stale), end="")
    if options.table:
        table(columns, options.table)
    print(f"{sum(count['passed'] for count in counts.values())} passed, {unknown} failed")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
