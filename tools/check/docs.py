"""Pages tell of the tree as it is: the code of their diffs stands in the files they name, links and paths lead somewhere."""
import re

DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
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


def findings(tree):
    found = []
    for page in tree.files(".md"):
        text = tree.text(page)
        for diff in DIFF.findall(text):
            found += diff_findings(tree, page, diff)
        folder = (tree.root / page).parent
        missing = [name for name in LINK.findall(text) if not (folder / name).exists()]
        missing += [name for name in PATH.findall(text) if not (tree.root / name).exists()]
        found += [f"{page}: there is no {name}" for name in missing]
    return found
