"""LibTorch's own tests of its C++ frontend (test/cpp/api of PyTorch's sources), built and run against Argand.

    python suite.py --sources PYTORCH --build BUILD [--work FOLDER] [--cxx COMPILER] [--jobs N] [--details] [FILE...]
    python suite.py --self-test

PYTORCH is an unpacked source tree of PyTorch 1.13.1, BUILD a build folder of Argand. Prints a line for each file and the sum. A test that
does not compile is taken out of the copy that is compiled, so that it costs no other; it counts as not compiled, one that skips itself as
skipped. With --details, each test that failed or did not compile is printed with the first line of what went wrong.

Exits with 1 if a test fails or does not compile that suite_known.txt does not name, and, when all files are run, if a line there names
none. --self-test shows that on made-up output of a test program.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from known import Known  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
KNOWN = pathlib.Path(__file__).with_name("suite_known.txt")
TEST_OPS = pathlib.Path(__file__).with_name("test_ops.h")  # LibTorch has these for its tests alone
TEST = re.compile(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
RESULT = re.compile(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w./]+)")
# Files without tests of their own: the first is linked to all, the other measures speed on GPUs.
NO_TESTS = {"support", "parallel_benchmark"}


class Source:
    """A test file: its lines, and which part each line belongs to: a test by name, another declaration by number, or none."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.owner = [None] * (len(self.lines) + 2)
        self.left_out = {}
        line = 0
        while line < len(self.lines):
            end = self.end_of_part(line)
            match = TEST.match(" ".join(self.lines[line:line + 3])) if end else None
            for i in range(line, end or 0):
                self.owner[i + 1] = f"{match[1]}.{match[2]}" if match else line
            line = end or line + 1

    def end_of_part(self, start):
        """The line after the declaration that starts at a line's beginning; None if none does there."""
        first = self.lines[start]
        if first.startswith("#define"):
            return next(i + 1 for i in range(start, len(self.lines)) if not self.lines[i].endswith("\\"))
        if not first or first.startswith((" ", "#", "//", "/*", "*", "}", "namespace ")):
            return None
        body = False
        for i in range(start, len(self.lines)):
            body |= "{" in self.lines[i]
            if self.lines[i].startswith("}") or (not body and self.lines[i].endswith(";")) or (
                    i == start and body and first.endswith(("}", "};"))):
                return i + 1
        return None

    def tests(self):
        return sorted({owner for owner in self.owner if isinstance(owner, str)})

    def leave_out(self, line, reason):
        """Takes out what `line` belongs to: a test, another declaration, an include; false if it is none of them."""
        part = self.owner[line]
        if isinstance(part, str):
            self.left_out.setdefault(part, reason)
        elif part is None and not self.lines[line - 1].startswith("#include"):
            return False
        for i in range(1, len(self.lines) + 1):
            if i == line or (part is not None and self.owner[i] == part):
                self.lines[i - 1] = ""
        return True

    def write(self, path):
        path.write_text("\n".join(self.lines) + "\n")


def errors(log, path):
    """(line of `path`, message) for each error of the compiler: its own place, or the place that led to it."""
    found, context = [], None
    for line in log.splitlines():
        place = re.match(r"(?:\S*/)?" + re.escape(path.name) + r":(\d+)(?::\d+)?:\s*(.*)", line)  # ccache may make paths relative
        if " error: " in line:
            message = line.split(" error: ", 1)[1]
            if place:
                found.append((int(place[1]), message))
            elif context:
                found.append((context, message))
            else:
                found.append((None, message))
            context = None
        elif place and ("required from here" in place[2] or "required from" in place[2]):
            context = int(place[1])
    return found


def outcomes(output):
    """({test: "OK", "SKIPPED" or what went wrong}, the test that was running where the output ends, what that said)."""
    results, running, said = {}, None, []
    for line in output.splitlines():
        match = RESULT.match(line)
        if not match:
            said.append(line)
        elif match[1] == "RUN":
            running, said = match[2], []
        elif running:
            results[running] = match[1] if match[1] in ("OK", "SKIPPED") else " ".join(said) or "failed"
            running = None
    return results, running, " ".join(said)


class Counts:
    """The numbers of tests by outcome."""

    def __init__(self):
        self.passed, self.skipped, self.failed, self.absent = set(), set(), {}, {}

    def add(self, results, absent):
        for test, result in results.items():
            if result in ("OK", "SKIPPED"):
                (self.passed if result == "OK" else self.skipped).add(test)
            else:
                self.failed[test] = result
        self.absent.update(absent)

    def line(self, name):
        return (f"{name:<22}{len(self.passed):>5} passed{len(self.failed):>5} failed{len(self.absent):>5} not compiled"
                f"{len(self.skipped):>5} skipped")

    def differences(self, known, whole):
        """What is wrong; unless it is the whole suite, a line of the list that names nothing is not."""
        return known.wrong({**self.failed, **self.absent}, lambda line: whole)


class Suite:
    def __init__(self, options):
        self.options = options
        self.api = pathlib.Path(options.sources) / "test/cpp/api"
        self.build = pathlib.Path(options.build).resolve()
        self.work = pathlib.Path(options.work or self.build / "libtorch-suite").resolve()
        self.work.mkdir(parents=True, exist_ok=True)

    def command(self, source, output):
        includes = [ROOT, self.build / "generated", ROOT / "compat/torch", self.build / "compat/torch/include", self.options.sources]
        cache = ["ccache"] if shutil.which("ccache") else []
        return [*cache, self.options.cxx, "-std=c++20", "-O0", "-w", "-fno-diagnostics-show-caret",
                *(f"-I{path}" for path in includes), "-include", str(TEST_OPS), "-c", str(source), "-o", str(output)]

    def compile(self, name):
        """The object of a file without the tests that do not compile, or None; and the Source."""
        source = Source((self.api / f"{name}.cpp").read_text())
        copy, output = self.work / f"{name}.cpp", self.work / f"{name}.o"
        for _ in range(12):
            source.write(copy)
            run = subprocess.run(self.command(copy, output), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            (self.work / f"{name}.log").write_text(run.stdout)
            if run.returncode == 0:
                return output, source
            found = errors(run.stdout, copy)
            outside = [m for line, m in found if not line or not source.leave_out(line, m)]
            if len(outside) == len(found):
                for test in source.tests():
                    source.left_out.setdefault(test, f"outside of a test: {outside[0] if outside else run.stdout[-300:]}")
                return None, source
        return None, source

    def run(self, name, program):
        """{test: "OK", "SKIPPED" or what went wrong}; a test that ends the program costs only itself."""
        results, crashed = {}, []
        while True:
            filter = f"--gtest_filter=*-{':'.join(crashed)}"  # LibTorch's main leaves out what needs more GPUs than there are
            try:
                run = subprocess.run([str(program), filter], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     text=True, errors="replace", timeout=self.options.timeout)
                output, ended = run.stdout, run.returncode in (0, 1)
            except subprocess.TimeoutExpired as stopped:
                output, ended = (stopped.stdout or b"").decode(errors="replace"), False
            found, running, said = outcomes(output)
            results.update(found)
            if ended or not running or len(crashed) > 60:
                (self.work / f"{name}.out").write_text(output)
                return results
            results[running] = "ended the program: " + said[-300:]
            crashed.append(running)

    def link(self, name, objects):
        """The program, or None and what the linker said first."""
        program = self.work / name
        run = subprocess.run([self.options.cxx, *map(str, objects), "-o", str(program), f"-L{self.build / 'lib'}",
                              f"-Wl,-rpath,{self.build / 'lib'}", "-largand", "-lgtest", "-lgmock", "-lpthread"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = [line for line in run.stdout.splitlines() if "undefined" in line or "cannot find" in line]
        return (None, (said or [run.stdout])[0]) if run.returncode else (program, "")

    def file(self, name):
        """({test: what became of it}, {test: why it did not compile}) of one file."""
        object_, source = self.compile(name)
        if not object_:
            return {}, source.left_out
        program, error = self.link(name, [object_, *self.shared])
        if not program:
            return {}, {test: f"does not link: {error}" for test in source.tests()}
        return self.run(name, program), source.left_out

    def prepare(self):
        main, support = self.work / "main.o", self.work / "support.o"
        subprocess.run(self.command(self.api.parent / "common/main.cpp", main), check=True)
        subprocess.run(self.command(self.api / "support.cpp", support), check=True)
        self.shared = [main, support]

    def all(self):
        """What is wrong with the suite, as lines."""
        names = self.options.files or sorted(p.stem for p in self.api.glob("*.cpp") if p.stem not in NO_TESTS)
        self.prepare()
        total = Counts()
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for name, (results, absent) in zip(names, pool.map(self.file, names)):
                counts = Counts()
                counts.add(results, absent)
                total.add(results, absent)
                print(counts.line(name), flush=True)
                if self.options.details:
                    for test, why in sorted({**counts.failed, **absent}.items()):
                        print(f"    {test}: {'not compiled: ' if test in absent else ''}{why[:400]}")
        print(total.line("all"))
        if not total.passed:
            return ["no test passed"]
        return total.differences(Known(KNOWN, fields=2), whole=not self.options.files)


MADE_UP = """
[ RUN      ] A.Passes
[       OK ] A.Passes (0 ms)
[ RUN      ] A.Fails
a.cpp:3: Failure
[  FAILED  ] A.Fails (0 ms)
[ RUN      ] A.Skips
[  SKIPPED ] A.Skips (0 ms)
[ RUN      ] A.Crashes
terminate called
"""


def self_test():
    results, running, said = outcomes(MADE_UP)
    assert results == {"A.Passes": "OK", "A.Fails": "a.cpp:3: Failure", "A.Skips": "SKIPPED"}, results
    assert (running, said) == ("A.Crashes", "terminate called")
    counts = Counts()
    counts.add({**results, running: "ended the program"}, {"B.Absent": "no such type"})
    assert counts.line("x").split() == "x 1 passed 2 failed 1 not compiled 1 skipped".split(), counts.line("x")

    def wrong(text, whole=True):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return [re.search(r"\b[ABC]\.[A-Z]\w+", difference)[0] for difference in counts.differences(Known(file.name, fields=2), whole)]
    every = "A.Fails | f\nA.Crashes | c\nB.* | b\n"
    assert wrong(every) == []
    assert wrong(every.replace("A.Fails | f\n", "")) == ["A.Fails"]
    assert wrong(every.replace("B.* | b\n", "")) == ["B.Absent"]
    assert wrong(every + "A.Passes | p\n") == ["A.Passes"]
    assert wrong(every + "A.Skips | s\n") == ["A.Skips"]
    assert wrong(every + "C.Elsewhere | e\n", whole=False) == []
    Known(KNOWN, fields=2)
    print("suite.py: the self-test passes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", help="names of test files, such as tensor; all if none is given")
    parser.add_argument("--sources")
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--work", help="where objects and programs go (BUILD/libtorch-suite)")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=300, help="seconds for the tests of one file")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.sources:
        print("skipped: LibTorch's tests need a source tree of PyTorch 1.13.1 (--sources)")
        sys.exit(77)
    if not (pathlib.Path(options.sources) / "test/cpp/api").is_dir():
        sys.exit(f"{options.sources} has no test/cpp/api")
    wrong = Suite(options).all()
    for difference in wrong:
        print(f"wrong: {difference}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
