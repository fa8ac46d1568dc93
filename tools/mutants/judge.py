"""Runs the tests that execute a fault's line, with the fault switched on, until one fails.

What counts as found: a test that fails, a crash, more memory or more time than LIMITS say (a loop may not end).
"""
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from plant import BUILD, COPY, JUDGES

MEMORY = 12 << 30
SLOWER, AT_LEAST = 10, 30  # a run may take so many times what its tests took, and seconds on top of that
SUITES_OF_DEVICES = "Kernels.*:Pinned.*:Planted.*"  # GPUs' kernels, and the faults of the tests' own ops
FIRST = 25  # tests that come by the fewest places are the nearest ones: these first
MOST_OPS_IN_PARITY = 40
FAILED = re.compile(r"\[  FAILED  \] (\S+)")


@dataclass
class Verdict:
    step: str  # conformance, kernels, parity; "" for a survivor
    by: str
    seconds: float


class BrokenWithoutFault(Exception):
    pass


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)


def run(command, limit, **environment):
    """(status, output); a status of None where the time was over."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(command, cwd=COPY, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=limited,
                                   env={**os.environ, "ARGAND_NUM_THREADS": "2", **environment})
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None, ""
        output.seek(max(0, output.seek(0, os.SEEK_END) - 100_000))
        return process.returncode, output.read()


def tests_in(program, tests, limit, **environment):
    """The program with these tests alone; through a file, as a line of a shell could not hold their names."""
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write(f"--gtest_filter={':'.join(tests)}\n--gtest_brief=1\n--gtest_fail_fast\n")
        flags.flush()
        return run([BUILD / "bin" / program, f"--gtest_flagfile={flags.name}"], limit, **environment)


class Record:
    """Which test came by which place, how long it took, and how many places it came by."""

    def __init__(self):
        self.places = defaultdict(lambda: defaultdict(list))  # of a fault: {program: tests}
        self.milliseconds, self.breadth = {}, {}

    @classmethod
    def made(cls, say):
        self = cls()
        for program in JUDGES:
            with tempfile.NamedTemporaryFile("r", suffix=".tsv") as lines:
                started = time.time()
                status, output = run([BUILD / "bin" / program, "--gtest_brief=1", f"--gtest_filter=-{SUITES_OF_DEVICES}"], 3600,
                                     ARGAND_MUTANTS_RECORD=lines.name)
                if status != 0:
                    raise BrokenWithoutFault(f"{program} fails without any fault (status {status}):\n{output[-4000:]}")
                for line in lines:
                    self._add(program, *line.rstrip("\n").split("\t"))
                say(f"{program} passes without faults in {time.time() - started:.0f} s")
        return self

    def _add(self, program, test, milliseconds, places):
        numbers = [int(n) for n in places.split(",") if n]
        self.milliseconds[program, test], self.breadth[program, test] = int(milliseconds), len(numbers)
        for number in numbers:
            self.places[number][program].append(test)

    def nearest(self, program, tests):
        return sorted(tests, key=lambda test: (self.breadth[program, test], self.milliseconds[program, test]))

    def ops(self, number):
        """The ops whose tests came by, the nearest first."""
        tests = self.nearest(JUDGES[0], self.places[number][JUDGES[0]])
        return list(dict.fromkeys(test.split(".")[1] for test in tests))

    def rounds(self, number):
        """(program, tests) in the order in which they judge: of the ops that came by, the tests of all suites, as what one test
        has computed may be kept for others."""
        conformance = JUDGES[0]
        near = self.nearest(conformance, self.places[number][conformance])[:FIRST]
        ops = set(self.ops(number))
        far = [t for p, t in self.milliseconds if p == conformance and t.split(".")[1] in ops and t not in set(near)]
        for program, tests in ((conformance, near), (conformance, far), *((p, self.places[number][p]) for p in JUDGES[1:])):
            if tests:
                yield program, tests


class Judge:
    def __init__(self, record, torch_python):
        self.record, self.torch_python, self.without_fault = record, torch_python, {}

    def __call__(self, number):
        started = time.time()
        for program, tests in self.record.rounds(number):
            usual = sum(self.record.milliseconds[program, test] for test in tests) / 1000
            status, output = tests_in(program, tests, SLOWER * usual + AT_LEAST, ARGAND_MUTANT=str(number))
            if status != 0:
                return Verdict("conformance" if program == JUDGES[0] else "kernels", how(program, status, output), time.time() - started)
        by = self.parity(number)
        return Verdict("parity" if by else "", by, time.time() - started)

    def parity(self, number):
        ops = tuple(sorted(self.record.ops(number)[:MOST_OPS_IN_PARITY]))
        if not self.torch_python or not ops:
            return ""
        if ops not in self.without_fault:
            started = time.time()
            status, _ = self._compare(ops, 600)
            self.without_fault[ops] = status, time.time() - started
        status, seconds = self.without_fault[ops]
        if status != 0:
            raise BrokenWithoutFault(f"tests/parity/parity.py fails without any fault (status {status}) for {' '.join(ops)}")
        status, output = self._compare(ops, SLOWER * seconds + AT_LEAST, ARGAND_MUTANT=str(number))
        if status == 0:
            return ""
        differ = output.rpartition("\ndiffer:\n")[2].strip().splitlines()  # the last of its lists of ops
        return differ[0].strip()[:120] if differ else how("parity.py", status, output)

    def _compare(self, ops, limit, **environment):
        command = [self.torch_python, "-B", COPY / "tests/parity/parity.py", "--dump", BUILD / "bin/argand_samples_dump", *ops]
        return run(command, limit, OMP_NUM_THREADS="1", **environment)


def how(program, status, output):
    """Which test found it, and in which way."""
    if status is None:
        return f"{program}: out of time"
    if status < 0:
        return f"{program}: signal {-status}"
    failed = FAILED.search(output)
    return failed[1].rstrip(",") if failed else f"{program}: status {status}"


def python_with_torch(root):
    """A Python that has PyTorch, as `./dev parity` names it; None without one."""
    for candidate in (os.environ.get("ARGAND_TORCH_PYTHON"), root / "build/parity/bin/python", sys.executable):
        if candidate and Path(candidate).exists() and subprocess.run([candidate, "-c", "import torch"], capture_output=True).returncode == 0:
            return str(candidate)
    return None
