"""clang-tidy with the lean list of .clang-tidy.

Tests are left out: GoogleTest's macros cost most of the time, and a test's mistakes show when it runs.  What passed is
remembered by its text and that of everything it includes, so only what changed is looked at again.

Most of clang-tidy's time goes into the headers, so files are looked at in batches: one that includes some of them, no
two of which define the same name.  Should they not compile together all the same, the batch is halved.
"""
import pathlib
import subprocess
import sys

from tree import Passed, tool

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from batches import batches

BATCH = 16  # files; more gain little
# Left out: what includes a header that is not there, of a library that `./dev` does not install, or one that a tool writes.
ELSEWHERE = ("argand/runtime/mpi/", "tools/mutants/")


def findings(tree):
    clang_tidy = tool("clang-tidy", 16)
    tree.generated()
    # Errors of the compiler are the build's business, and flags of GCC are unknown here.
    flags = [flag for flag in tree.compile_flags() if not flag.startswith("-W")]
    passed = Passed(tree, "tidy", flags, tree.text(".clang-tidy"))
    files = [path for path in tree.files(".cpp", under=("argand/", "tools/", "bench/"))
             if not path.endswith("_test.cpp") and not path.startswith(ELSEWHERE) and not passed.known(path)]
    folder = tree.work / "batches"
    folder.mkdir(parents=True, exist_ok=True)
    config = tree.root / ".clang-tidy"

    def tidy(batch):
        source = folder / (batch[0].replace("/", "_") + f"_{len(batch)}.cpp")
        source.write_text("".join(f'#include "{tree.root / path}"\n' for path in batch), encoding="utf-8")
        command = [clang_tidy, "--quiet", "--warnings-as-errors=*", f"--config-file={config}",
                   "--checks=-bugprone-suspicious-include", str(source), "--", *flags]
        result = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
        source.unlink()
        if "[clang-diagnostic-error" in result.stdout and len(batch) > 1:
            return tidy(batch[:len(batch) // 2]) + tidy(batch[len(batch) // 2:])
        lines = [line for line in result.stdout.splitlines() if ": error: " in line or ": warning: " in line]
        lines = [line.replace(f"{tree.root}/", "") for line in lines]
        if result.returncode and not lines:
            lines = [f"{batch[0]} and {len(batch) - 1} more: clang-tidy failed: {result.stderr}"]
        if not lines:
            for path in batch:
                passed.remember(path)
        return lines

    found = tree.each(batches(files, tree.text, BATCH), tidy)
    return list(dict.fromkeys(found))  # a header's finding comes once for each batch that includes it
