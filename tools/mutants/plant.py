"""A copy of the sources with all drawn faults in it, and its build, in build/mutants.

The copy stands two folders under the build's own, as the sources do under build/release, so that ccache finds what has no fault.
Headers with faults stand in a folder of their own, planted/, that only the files which compute (COMPUTING) search, and search first: all
others, most of the library, would be compiled anew for loops that they do not have.
"""
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

from operators import PLANTED
from report import described

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPY = ROOT / "build/mutants"
BUILD = COPY / "build/release"
TEXTS = (".h", ".cpp", ".inc")
COPIED = ("CMakeLists.txt", "CMakePresets.json", "argand", "bench/results", "cmake", "compat", "tools", "tests", "python")
# The programs that judge, in this order, and the folders of their sources; the two libraries show most of what does not compile.
JUDGES = ("tests_conformance", "argand_kernels_cpu_test", "argand_kernels_test", "tests_reduce", "argand_ops_test", "argand_optim_test", "tests_loss")
STAGES = (("argand_kernels_cpu_loops", "argand_kernels"), (*JUDGES, "argand_samples_dump"))
RECORDERS = ("tests/conformance", "argand/kernels/cpu", "argand/kernels", "tests/reduce", "argand/ops", "argand/optim", "tests/loss")
# Sources whose loops are those of the headers: the kernels with their tests, and ops that have a body.
COMPUTING = re.compile(r"\bARGAND_BODY|\bmath::")
WARNINGS = ("conversion", "float-conversion", "parentheses", "type-limits", "sign-compare", "unused-variable", "unused-but-set-variable", "bool-compare",
            "int-in-bool-context", "tautological-compare", "unused-value", "div-by-zero", "shift-count-negative", "bool-operation", "extra",
            "unused-parameter", "aggressive-loop-optimizations")
INCLUDE = '#include "argand/base/mutants.h"\n'


class CannotBuild(Exception):
    pass


def write(path, data):
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def with_faults(text, faults, numbers):
    for fault in sorted(faults, key=lambda f: -f.start):
        replacement = fault.replacement.replace(PLANTED, f"ARGAND_MUTANT({numbers[fault]})")
        text = text[:fault.start] + replacement + text[fault.end:]
    return text


def preamble(file, has_faults):
    """What comes before the first line, which keeps its number."""
    if file.endswith(".inc"):  # stands within a namespace; whoever includes it includes the switch
        return "#pragma GCC system_header\n#line 1\n"
    if file.endswith(".h"):
        return f"#pragma GCC system_header\n{INCLUDE}#line 1\n"
    ignored = "".join(f'#pragma GCC diagnostic ignored "-W{w}"\n' for w in WARNINGS) if has_faults else ""
    return f"{ignored}{INCLUDE}#line 1\n"


def sources():
    """(path, name from the root) of all that is copied."""
    for name in COPIED:
        top = ROOT / name
        for path in [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            yield path, str(path.relative_to(ROOT))


def plant(faults, numbers):
    """Writes the copy; files that are as they were keep their time."""
    by_file = defaultdict(list)
    for fault in faults:
        by_file[fault.file].append(fault)
    included = tuple(f'#include "{file}"' for file in by_file if file.endswith(".inc"))
    texts, computing = {}, []
    for path, file in sources():
        if path.suffix not in TEXTS:
            texts[file] = path.read_bytes()
            continue
        text = path.read_text()
        if file.startswith("argand/kernels/") and path.suffix in (".h", ".inc") and file in by_file:
            texts["planted/" + file] = preamble(file, True) + with_faults(text, by_file[file], numbers)
        elif file in by_file or (path.suffix == ".cpp" and any(line in text for line in included)):
            text = preamble(file, file in by_file) + with_faults(text, by_file[file], numbers)
        texts[file] = text
        if path.suffix == ".cpp" and (file.startswith("argand/kernels/") or (file.startswith("argand/ops/") and COMPUTING.search(text))):
            computing.append(file)
    for folder in RECORDERS:
        texts[f"{folder}/mutants_record_test.cpp"] = (HERE / "record.cpp").read_text()
    for name in ("h", "cpp"):
        texts[f"argand/base/mutants.{name}"] = (HERE / f"runtime.{name}").read_text()
    texts["planted/files.txt"] = "".join(f"{file}\n" for file in computing if "/cuda/" not in file)
    for file, text in texts.items():
        write(COPY / file, text if isinstance(text, bytes) else text.encode())
    for name in (*COPIED, "planted"):  # what is gone here must not be built there
        for path in (COPY / name).rglob("*") if (COPY / name).is_dir() else ():
            if path.is_file() and str(path.relative_to(COPY)) not in texts and "__pycache__" not in path.parts:
                path.unlink()


def configure():
    options = ("-DARGAND_WITH_CUDA=OFF", "-DARGAND_BATCHES=OFF", "-DARGAND_KERNEL_PACK=OFF", "-DARGAND_BUILD_PYTHON=OFF", f"-DCMAKE_PROJECT_argand_INCLUDE={HERE / 'planted.cmake'}")
    subprocess.run(["cmake", "--preset", "release", *options, "--log-level=WARNING"], cwd=COPY, check=True, stdout=subprocess.DEVNULL)


ERROR = re.compile(r"^(?:In file included from )?(\S+?):(\d+):(?:\d+:)? (?:fatal )?error:", re.MULTILINE)


def guilty(output, faults):
    """The faults on lines in which the compiler found an error."""
    found = set()
    for path, line in ERROR.findall(output):
        for fault in faults:
            end = fault.line + fault.replacement.count("\n")
            if path.endswith("/" + fault.file) and fault.line <= int(line) <= end:
                found.add(fault)
    return found


def build(faults, numbers, jobs, say):
    """Builds the copy; gives the faults that compile, after what does not was taken out.  What did not compile in an earlier build in this
    folder is not tried again."""
    path = COPY / "dropped.json"
    dropped = {tuple(key) for key in json.loads(path.read_text())} if path.exists() else set()
    faults = [f for f in faults if f.key not in dropped]
    plant(faults, numbers)
    configure()
    for targets in STAGES:
        while True:
            command = ["nice", "-n", "10", "cmake", "--build", str(BUILD), "-j", str(jobs), "--target", *targets, "--", "-k", "0"]
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode == 0:
                break
            bad = guilty(made.stdout + made.stderr, faults)
            if not bad:
                raise CannotBuild(made.stdout[-6000:] + made.stderr[-2000:])
            for fault in bad:
                say(f"does not compile: {described(fault)}")
            faults = [f for f in faults if f not in bad]
            dropped |= {f.key for f in bad}
            path.write_text(json.dumps(sorted(dropped)))
            plant(faults, numbers)
    return faults
