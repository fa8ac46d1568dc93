"""clang-format changes nothing (`./dev format` repairs), and lines of text in Markdown have at most 120 columns."""
import subprocess

from tree import tool

COLUMNS = 120


def long_lines(tree):
    """Tables and code are as wide as they are, and so are pages that a program writes."""
    for path in tree.files(".md"):
        text, code = tree.text(path), False
        if "\nGenerated from " in text[:200]:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            code ^= line.lstrip().startswith("```")
            if len(line) > COLUMNS and not code and not line.lstrip().startswith(("|", "<")) and " " in line[:COLUMNS].strip(" -*"):
                yield f"{path}:{number}: {len(line)} columns; wrap it (at most {COLUMNS})"


def findings(tree):
    return clang_format(tree) + list(long_lines(tree))


def clang_format(tree):
    files = tree.files(".h", ".c", ".cpp", ".cu", ".cuh")
    if not files:
        return []
    command = [tool("clang-format", 14), "--dry-run", "-Werror", "--ferror-limit=1", *files]
    result = subprocess.run(command, cwd=tree.root, capture_output=True, text=True)
    found = [line for line in result.stderr.splitlines() if ": error: " in line]
    return found or ([result.stderr or "clang-format failed"] if result.returncode else [])
