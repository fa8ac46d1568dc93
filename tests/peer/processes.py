"""The processes that run the tests of a file: what suite.py asks, and worker.py answers.

A file is imported once, by a process that then forks one for each group of tests (`File.run`): the import of PyTorch's helpers takes longer
than most groups.  Where forks are not allowed (a GPU is in use, or the library is not ours) each run imports the file anew.
"""
import collections
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
IMPORT_SECONDS = 120  # until a file has told its tests
LOOK_SECONDS = 0.2  # between looks at memory and processor time
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


def gpu_in_use():
    """Whether the tests may use a GPU, whose driver does not survive a fork."""
    return Path("/dev/nvidiactl").exists() and os.environ.get("CUDA_VISIBLE_DEVICES") != ""


class _Watched:
    """A process that writes events into a folder (`events`, `output`): its tests, and its end."""

    def __init__(self, folder, options):
        self.folder, self.options = Path(folder), options
        self.read, self.pid, self.names, self.outcomes, self.current, self.done = 0, None, None, {}, None, False
        self.since = time.monotonic()
        (self.folder / "events").write_text("")

    def hear(self):
        with open(self.folder / "events") as file:
            file.seek(self.read)
            for line in iter(file.readline, ""):
                if not line.endswith("\n"):
                    break
                self.read += len(line)  # the lines are ASCII
                self.take(json.loads(line))

    def take(self, event):
        self.since = time.monotonic()
        if "pid" in event:
            self.pid = event["pid"]
        elif "tests" in event:
            self.names = event["tests"]
        elif "begin" in event:
            self.current = event["begin"]
        elif "end" in event:
            self.outcomes[event["end"]] = Outcome(event["outcome"], event["text"])
            self.current = None
        self.done = self.done or "done" in event or event.get("end") == "(import)"

    def watch(self, ended, deadline, until=lambda: False):
        """Listens until `until()` or its end, and ends it where it goes beyond a limit: why that was, or None."""
        looked, measured_since, before = 0, self.since, 0
        while True:
            over = ended()
            self.hear()
            if over or until():
                return None
            time.sleep(0.02)
            now = time.monotonic()
            if self.done and now - self.since > 5:
                return None  # it does not end by itself
            if now > deadline:
                return "the file's time is over"
            if self.pid is None or now - looked < LOOK_SECONDS * (1 + self.options.jobs / 4):  # looking at all processes takes milliseconds
                continue
            looked = now
            memory, taken = used(self.pid)
            if measured_since != self.since:
                measured_since, before = self.since, taken
            limit = self.options.seconds if self.current else IMPORT_SECONDS
            # On a machine that does other work, too, a test that still computes is measured by its processor time.
            works = taken - before > (now - self.since) * WORKING and taken - before < limit
            if now - self.since > limit * (PATIENCE if works else 1):
                return f"hangs: no end within {limit:g} seconds"
            if memory > self.options.memory * 2**30:
                return f"memory: more than {self.options.memory:g} GiB"

    def end_of(self, status):
        last = (self.folder / "output").read_text(errors="replace")[-1500:]
        return (f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}") + "\n" + last


def _end_group(pid):
    try:
        os.killpg(pid, signal.SIGKILL)  # and what it started
    except (ProcessLookupError, PermissionError):
        pass


class _Importer:
    """A process that has imported the file, or says why that failed (`failure`)."""

    def __init__(self, command, job, options, deadline):
        self.options, self.lock = options, threading.Lock()
        self.place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = Path(self.place.name)
        self.told = _Watched(folder, options)
        (folder / "job").write_text(json.dumps({**job, "folder": str(folder)}))
        environment = {"OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // options.jobs)), **os.environ}
        with open(folder / "output", "w") as output:
            self.process = subprocess.Popen([*command, str(WORKER), str(folder / "job")], stdin=subprocess.PIPE, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True, env=environment, text=True)
        self.told.pid = self.process.pid
        why = self.told.watch(lambda: self.process.poll() is not None, deadline, lambda: self.told.names is not None)
        self.names, self.failure = self.told.names, None
        if self.told.outcomes:  # of the import
            self.failure = self.told.outcomes["(import)"]
        elif self.names is None:
            self.failure = Outcome("crashed", why or self.told.end_of(self.process.wait()))

    def ask(self, request):
        with self.lock:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()

    def close(self):
        try:
            self.process.stdin.close()  # it ends what it has forked, and itself
            self.process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            pass
        _end_group(self.process.pid)
        self.process.wait()
        self.place.cleanup()


class File:
    """A test file: `names` of its tests, or the `failure` of its import; `run` is for any number of threads."""

    def __init__(self, command, path, options, sources, forks):
        self.command, self.options, self.forks, self.names, self.failure = command, options, forks, [], None
        self.deadline = min(options.until, time.monotonic() + options.file_seconds)
        self.job = {"file": str(path), "tests_folder": str(Path(options.sources).resolve() / "test"), "sources": sources, "fork": forks}
        self.importer = None
        if not path.exists():
            self.failure = Outcome("error", f"no file {path}")
            return
        self.importer = self._import()
        self.names, self.failure = self.importer.names or [], self.importer.failure

    def _import(self):
        return _Importer(self.command, self.job, self.options, self.deadline)

    def close(self):
        if self.importer is not None:
            self.importer.close()
            self.importer = None

    def _once(self, tests):
        """A process that runs tests: (what it told, why it was ended or None)."""
        # What imported the file may write the status of a process that was stopped just when the folder goes.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            run = _Watched(folder, self.options)
            importer, self.importer = self.importer, self.importer if self.forks else None
            if importer is None:
                importer = self._import()
            if not self.forks:
                run.pid = importer.process.pid
            status = Path(folder, "status")
            ended = status.exists if self.forks else lambda: importer.process.poll() is not None
            try:
                importer.ask({"folder": folder, "tests": tests})
                why = run.watch(lambda: ended() or importer.process.poll() is not None, self.deadline)
            except BrokenPipeError:
                why = None
            if run.pid is not None:
                _end_group(run.pid)
            if not why and not run.done:
                # The status is read before the importer is closed: it is the one who knows it.
                code = int(status.read_text()) if self.forks and status.exists() else importer.process.wait()
                why = run.end_of(code) if Path(folder, "output").exists() else f"the process that imported the file ended with status {code}"
            if not self.forks:
                importer.close()
            run.hear()
            return run, None if run.done else why

    def run(self, tests):
        """Outcomes of these tests by name.  Where one ends the process or is stopped, the others run in another."""
        outcomes, left = {}, list(tests)
        while left:
            if time.monotonic() > self.deadline:
                outcomes.update({name: Outcome("not run", "the file's time is over") for name in left})
                break
            told, why = self._once(left)
            outcomes.update(told.outcomes)
            left = [name for name in left if name not in told.outcomes]
            if why is None or not left:
                break
            crashed = told.current or left[0]
            over = time.monotonic() > self.deadline  # then it is not this test that took too long
            outcomes[crashed] = Outcome("not run" if over else "crashed", why)
            left = [name for name in left if name != crashed]
        return outcomes
