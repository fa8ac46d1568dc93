"""Runs commands that make files, if a file is older than what it is made of or was made by another command."""
import concurrent.futures
import contextlib
import fcntl
import os
import re
import shlex
import subprocess
import sys


class Step:
    """A command that makes a file `out` of `sources`; a compiler writes the headers that it read to `out`.d."""

    def __init__(self, command, out, sources):
        self.command, self.out, self.sources = command, out, sources

    @property
    def _text(self):
        return shlex.join(self.command)

    def _read(self, end):
        try:
            with open(self.out + end, encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def is_done(self):
        """Whether the file is there and as the command would make it."""
        if not os.path.exists(self.out) or self._read(".command") != self._text:
            return False
        headers = re.split(r"(?<!\\)\s+", self._read(".d").replace("\\\n", " ").partition(": ")[2].strip())
        made = os.stat(self.out).st_mtime_ns
        try:
            return all(os.stat(path.replace("\\ ", " ")).st_mtime_ns <= made for path in (*self.sources, *headers) if path)
        except FileNotFoundError:
            return False

    def run(self, what, verbose):
        """RuntimeError with the compiler's text if the command fails."""
        if verbose:
            print(self._text, file=sys.stderr, flush=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.out)
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, errors="backslashreplace")
        except OSError as error:
            raise RuntimeError(f"Error building extension '{what}': {self.command[0]}: {error}") from None
        if verbose:
            print(done.stdout + done.stderr, end="", file=sys.stderr, flush=True)
        if done.returncode != 0:
            raise RuntimeError(f"Error building extension '{what}': {self._text}\n{done.stdout}{done.stderr}")
        with open(self.out + ".command", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self._text)


def num_jobs():
    """How many compilers run at a time: MAX_JOBS, or one for each processor."""
    wanted = os.environ.get("MAX_JOBS", "")
    if wanted and not (wanted.isdecimal() and int(wanted) > 0):
        raise ValueError(f"MAX_JOBS: expected a positive number, got {wanted!r}")
    return int(wanted) if wanted else len(os.sched_getaffinity(0))


def run_all(steps, what, verbose=False):
    """Runs those of the steps that are not done, several at a time; they do not need each other's files.  Whether any ran."""
    needed = [step for step in steps if not step.is_done()]
    with concurrent.futures.ThreadPoolExecutor(num_jobs()) as pool:
        for running in [pool.submit(step.run, what, verbose) for step in needed]:
            running.result()
    return bool(needed)


@contextlib.contextmanager
def locked(folder):
    """Holds a folder for one process at a time.  The lock of a process that ends is free."""
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_if_new(path, text):
    """Writes a file, unless it has this text: then it keeps its time."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        if file.read() == text:
            return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
