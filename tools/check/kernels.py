"""Every kernel begins with await_earlier_work(): Note [Kernels start early] says why nothing may stand before it.

Kernels that stand in texts of .cpp files too; not those of tests, and not `{}`, which is compiled and never run.
"""
import re

KERNEL = re.compile(r"__global__\b")
# In a .cpp file the text may go on in another string: `...{\n"); add("  await...`.
GOOD_BODY = re.compile(r'(\s|\\n|"\);|add\(")*await_earlier_work\(\);|\}')


def body_of(text, at):
    """The place behind the brace that opens the body of the function declared at `at`, or None."""
    depth = 0
    while at < len(text):
        c = text[at]
        if c == "{" and depth == 0:
            return at + 1
        if c == ";" and depth == 0:
            return None
        depth += (c in "({") - (c in ")}")
        at += 1
    return None


def findings(tree):
    found = []
    for path in tree.files(".cuh", ".cpp"):
        if path.endswith("_test.cpp"):
            continue
        text = tree.text(path)
        for kernel in KERNEL.finditer(text):
            body = body_of(text, kernel.end())
            if body is not None and not GOOD_BODY.match(text, body):
                line = text.count("\n", 0, kernel.start()) + 1
                found.append(f"{path}:{line}: a kernel that does not begin with await_earlier_work()")
    return found
