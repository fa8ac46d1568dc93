"""The generator gives the same files every time, leaves unchanged ones alone, and the committed ones are up to date."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def times(folder):
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in sorted(folder.rglob("*")) if p.is_file()}


def generate(tree, out, seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run([sys.executable, tree.root / "tools/generate/generate.py", "--out", out], cwd=tree.root,
                   env=environment, check=True)


def findings(tree):
    if not (tree.root / "tools/generate/generate.py").exists():
        return []
    found = []
    with tempfile.TemporaryDirectory() as work:
        first, second = Path(work, "first"), Path(work, "second")
        first.mkdir()
        second.mkdir()
        generate(tree, first, "1")
        generate(tree, second, "2")
        written, before = contents(first), times(first)
        found += [f"{path}: differs between two runs of the generator"
                  for path in sorted({path for path, _ in written.items() ^ contents(second).items()})]
        generate(tree, first, "1")
        found += [f"{path}: rewritten although nothing changed"
                  for path, _ in sorted(before.items() - times(first).items())]
    for path, content in written.items():
        committed = tree.root / path
        if path.startswith("docs/") and not (committed.exists() and committed.read_bytes() == content):
            found.append(f"{path}: out of date (./dev docs)")
    return found
