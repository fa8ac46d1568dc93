"""A file has at most 700 lines (most have fewer than 200)."""

MOST = 700


def findings(tree):
    lines = {path: tree.text(path).count("\n") for path in tree.files(".h", ".c", ".cpp", ".cu", ".cuh", ".py", ".cmake")}
    return [f"{path}: {count} lines; split it (at most {MOST})" for path, count in lines.items() if count > MOST]
