#!/usr/bin/env python3
"""The pages as a site: build_site.py [--root TREE] OUT.  Needs mkdocs beside this Python; exits 1 on a broken link or a page that is in no menu."""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

# Beside the pages, what they link to.
LINKED = ("tests/peer/suite_known.txt", "examples/cpp/CMakeLists.txt")
SKIPPED = {"build", "install", "out", "tests", "dist"}


def pages(root):
    """The Markdown files of the tree, relative to it."""
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if parts[0] not in SKIPPED and not parts[0].startswith("."):
            yield Path(*parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    staged = arguments.root / "build" / "site-pages"  # docs_dir of mkdocs.yml
    shutil.rmtree(staged, ignore_errors=True)
    for path in [*pages(arguments.root), *map(Path, LINKED)]:
        (staged / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(arguments.root / path, staged / path)
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", arguments.root / "mkdocs.yml", "--site-dir", arguments.out.resolve()]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
