"""clang-tidy with the lean list of .clang-tidy.

Tests are left out: GoogleTest's macros cost most of the time, and a test's mistakes show when it runs.  What passed is
remembered by its text and that of everything it includes, so only what changed is looked at again.
"""
import subprocess

from tree import Passed, tool


def findings(tree):
    clang_tidy = tool("clang-tidy", 16)
    tree.generated()
    files = [path for path in tree.files(".cpp", under=("argand/", "tools/", "bench/"))
             if not path.endswith("_test.cpp")]
    # Errors of the compiler are the build's business, and flags of GCC are unknown here.
    flags = [flag for flag in tree.compile_flags() if not flag.startswith("-W")]
    passed = Passed(tree, "tidy", flags, tree.text(".clang-tidy"))

    def tidy(path):
        command = [clang_tidy, "--quiet", "--warnings-as-errors=*", path, "--", *flags]
        result = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
        lines = [line for line in result.stdout.splitlines() if ": error: " in line or ": warning: " in line]
        lines = [line.replace(f"{tree.root}/", "") for line in lines]
        return lines or ([f"{path}: clang-tidy failed: {result.stderr}"] if result.returncode else [])

    found = tree.each(files, lambda path: passed.unless_known(path, tidy))
    return list(dict.fromkeys(found))  # a header's finding comes once for each file that includes it
