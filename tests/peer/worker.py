"""Runs the tests of one file of PyTorch's in this process, and says what becomes of each: what suite.py starts.

    worker.py EVENTS JOB

JOB is a file of JSON: `file`, `sources` (None: without the adapter), `tests`, those to run or patterns of them, or None for all, and
`part`, (i, n) for every n-th test beginning with the i-th.  EVENTS gets a line of JSON for the list of tests, for the beginning of each
test and for its end, so that whoever reads it knows which test ended the process.
"""
import fnmatch
import importlib
import inspect
import itertools
import json
import os
import sys
import unittest
from pathlib import Path


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def name_of(test):
    """Class.method; the name of what stands for a module or class that does not load."""
    name = getattr(test, "_testMethodName", None)
    return f"{type(test).__name__}.{name}" if name else str(test)


def choices(mark):
    """What a mark of pytest's gives the parameters in turn: (values by name, reason to skip or None)."""
    names = mark.args[0]
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    for given in mark.args[1]:
        skips = [skip.kwargs.get("reason", skip.name) for skip in getattr(given, "marks", ()) if skip.name == "skip" or any(skip.args)]
        values = given.values if hasattr(given, "marks") else given if len(names) > 1 or isinstance(mark.args[0], (list, tuple)) else (given,)
        yield dict(zip(names, values)), skips[0] if skips else None


def functions(module):
    """The functions of a module that are tests of pytest's, each with all combinations of its parameters, as a TestCase."""
    class Functions(unittest.TestCase):
        """Named by their numbers among the values of each parameter."""

    def method(function, values, skip):
        def run(self):
            if skip is not None:
                self.skipTest(skip)
            try:
                function(**values)
            except BaseException as error:
                if type(error).__name__ != "Skipped":  # pytest's, which is no Exception
                    raise
                self.skipTest(str(error))
        return run

    for name, function in list(vars(module).items()):
        if not name.startswith("test_") or not inspect.isfunction(function):
            continue
        marks = [list(enumerate(choices(mark))) for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
        for chosen in itertools.product(*marks):
            values = {key: value for _, (some, _) in chosen for key, value in some.items()}
            skip = next((reason for _, (_, reason) in chosen if reason is not None), None)
            setattr(Functions, "_".join([name, *(str(number) for number, _ in chosen)]), method(function, values, skip))
    return unittest.defaultTestLoader.loadTestsFromTestCase(Functions)


class Events(unittest.TestResult):
    """Writes a line for each beginning and end."""

    def __init__(self, file):
        super().__init__()
        self.file, self.outcome = file, None

    def say(self, **event):
        self.file.write(json.dumps(event) + "\n")
        self.file.flush()

    def startTest(self, test):
        super().startTest(test)
        self.outcome = ("passed", "")
        self.say(begin=name_of(test))

    def stopTest(self, test):
        super().stopTest(test)
        self.say(end=name_of(test), outcome=self.outcome[0], text=self.outcome[1])

    def failed(self, test, error, outcome):
        text = f"{error[0].__name__}: {error[1]}"
        if not hasattr(test, "_testMethodName"):  # setUpClass or setUpModule: its tests do not begin
            self.say(end=str(test), outcome="error", text=text[:2000])
        elif outcome == "error" or self.outcome[0] != "error":
            trace = self._exc_info_to_string(error, test)
            self.outcome = (outcome, text[:2000] + "\n" + trace[-3000:])

    def addError(self, test, err):
        self.failed(test, err, "error")

    def addFailure(self, test, err):
        self.failed(test, err, "failed")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.failed(test, err, "failed" if issubclass(err[0], test.failureException) else "error")

    def addSkip(self, test, reason):
        if self.outcome is None or not hasattr(test, "_testMethodName"):
            self.say(end=name_of(test), outcome="skipped", text=reason)
        elif self.outcome[0] == "passed":  # a subtest that is skipped hides no failure
            self.outcome = ("skipped", reason)

    def addUnexpectedSuccess(self, test):
        self.outcome = ("failed", "unexpected success: PyTorch's own tests expect that this fails")


def main():
    events, job = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    file = Path(job["file"])
    if job["sources"]:
        here = Path(__file__).resolve().parent
        sys.path.insert(0, str(here))
        import adapter
        adapter.install(job["sources"])
        os.environ["ARGAND_SUITE_SOURCES"] = job["sources"]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(here / "start"), os.environ.get("PYTHONPATH", "")])
    sys.argv = [str(file)]
    os.chdir(file.parent)
    sys.path[:0] = [str(file.parent), *([job["tests_folder"]] if job.get("tests_folder") else [])]
    with open(events, "a") as out:
        result = Events(out)
        try:
            module = importlib.import_module(file.stem)
            tests = [*flat(unittest.defaultTestLoader.loadTestsFromModule(module)), *flat(functions(module))]
        except BaseException as error:
            import traceback
            result.say(tests=["(import)"])
            result.say(end="(import)", outcome="error", text=f"{type(error).__name__}: {error}\n{traceback.format_exc()[-3000:]}")
            return
        first, step = job.get("part", (0, 1))
        tests = tests[first::step]
        wanted = None if job["tests"] is None else set(job["tests"])
        patterns = [test for test in wanted or () if "*" in test]
        result.say(tests=[name_of(test) for test in tests])
        unittest.TestSuite(test for test in tests if wanted is None or name_of(test) in wanted
                           or any(fnmatch.fnmatchcase(name_of(test), pattern) for pattern in patterns)).run(result)
        result.say(done=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # what was written is all that counts: threads that a test left do not hold the process
