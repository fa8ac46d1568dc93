"""clang-format changes nothing (`./dev format` repairs)."""
import subprocess

from tree import tool


def findings(tree):
    files = tree.files(".h", ".cpp", ".cu", ".cuh")
    if not files:
        return []
    command = [tool("clang-format", 14), "--dry-run", "-Werror", "--ferror-limit=1", *files]
    result = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    found = [line for line in result.stderr.splitlines() if ": error: " in line]
    return found or ([result.stderr or "clang-format failed"] if result.returncode else [])
