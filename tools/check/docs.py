"""Pages tell of the tree as it is: the code of their diffs stands in the files they name, links and paths lead somewhere."""
import re

DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
TEST = re.compile(r"`([A-Z]\w+)\.([A-Z]\w+)`")  # on the page of bad inputs, which names the test of each
PAGE_OF_TESTS = "docs/bad-inputs.md"
PATH = re.compile(r"`((?:argand|bench|cmake|compat|docs|examples|tests|tools)/[\w./-]*)`")


def diff_findings(tree, page, diff):
    """One file per diff; all of what it shows, less the removed lines, must be a piece of that file."""
    path = re.search(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE)
    if not path or not (tree.root / path[1]).exists():
        return [f"{page}: a diff of a file that does not exist: {diff.splitlines()[:2]}"]
    shown = [line[1:] for line in diff[path.end():].splitlines() if line[:1] in (" ", "+")]
    if "\n".join(shown) + "\n" not in tree.text(path[1]):
        return [f"{page}: the diff of {path[1]} does not show what is there"]
    return []


def named_tests(tree, page):
    """Tests that the page names and no source has."""
    sources = "".join(tree.text(path) for path in tree.all_files("_test.cpp", under=("argand", "tests")))
    missing = [f"{suite}.{test}" for suite, test in TEST.findall(tree.text(page))
               if not re.search(rf"^TEST(?:_[FP])?\({suite}, {test}\)", sources, re.MULTILINE)]
    return [f"{page}: there is no test {name}" for name in missing]


def findings(tree):
    found = []
    for page in tree.files(".md"):
        text = tree.text(page)
        if page == PAGE_OF_TESTS:
            found += named_tests(tree, page)
        for diff in DIFF.findall(text):
            found += diff_findings(tree, page, diff)
        folder = (tree.root / page).parent
        missing = [name for name in LINK.findall(text) if not (folder / name).exists()]
        missing += [name for name in PATH.findall(text) if not (tree.root / name).exists()]
        found += [f"{page}: there is no {name}" for name in missing]
    return found
