"""Imports one file of PyTorch's tests, and runs those that it is asked for: what processes.py starts.

    worker.py JOB

JOB is a file of JSON: `file`, `sources` (None: without the adapter), `folder`, and `fork`.  The input has requests, lines of JSON with
`tests`, the names of tests, and a `folder`: with `fork` each runs in a process of its own, else one runs here.  The file `events` in the
folder gets a line of JSON for the process's number, for the list of tests (in the job's), for the beginning of each test and for its
end, so that whoever reads it knows which test ended the process.
"""
import gc
import importlib
import inspect
import itertools
import json
import os
import select
import signal
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


def run(tests, wanted, folder):
    """The tests of these names, whose events go into a folder."""
    wanted = set(wanted)
    with open(Path(folder, "events"), "a") as out:
        result = Events(out)
        result.say(pid=os.getpid())
        unittest.TestSuite(test for test in tests if name_of(test) in wanted).run(result)
        result.say(done=True)
    sys.stdout.flush()
    os._exit(0)  # what was written is all that counts: threads that a test left do not hold the process


def in_this_process(tests, request):
    """What a request asks for, with its output into the folder."""
    output = os.open(Path(request["folder"], "output"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        run(tests, request["tests"], request["folder"])
    finally:
        os._exit(1)  # it came through no test: the events say where it was


def serve(tests):
    """Forks a process for each request, a line of JSON, and writes its exit status into its folder, until the input ends."""
    running = {}
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer)
    gc.freeze()  # a collection in a fork would touch, and so copy, everything
    line = b""
    while True:
        ready, _, _ = select.select([0, reader], [], [])
        if reader in ready:
            os.read(reader, 4096)
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            folder = running.pop(pid)
            try:
                Path(folder, "status.new").write_text(str(os.waitstatus_to_exitcode(status)))
                os.rename(Path(folder, "status.new"), Path(folder, "status"))
            except FileNotFoundError:
                pass  # it was stopped, and nobody waits for it any more
        if 0 in ready:
            given = os.read(0, 1 << 20)
            if not given:
                break
            *lines, line = (line + given).split(b"\n")
            for request in map(json.loads, lines):
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.setsid()
                    in_this_process(tests, request)
                running[pid] = request["folder"]
    for pid in running:
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
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
    with open(Path(job["folder"], "events"), "a") as out:
        result = Events(out)
        try:
            module = importlib.import_module(file.stem)
            tests = [*flat(unittest.defaultTestLoader.loadTestsFromModule(module)), *flat(functions(module))]
        except BaseException as error:
            import traceback
            result.say(end="(import)", outcome="error", text=f"{type(error).__name__}: {error}\n{traceback.format_exc()[-3000:]}")
            return
        result.say(tests=[name_of(test) for test in tests])
    if job["fork"]:
        serve(tests)
    else:
        given = sys.stdin.readline()
        if given:
            in_this_process(tests, json.loads(given))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
