"""Pages tell of the tree as it is: the code of their diffs stands in the files they name, links and paths lead
somewhere, and the commands, options, environment variables, notes and tests that they name are there."""
import functools
import re

DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
TEST = re.compile(r"`([A-Z]\w+)\.([A-Z]\w+)`")  # on the page of bad inputs, which names the test of each
PAGE_OF_TESTS = "docs/bad-inputs.md"
PATH = re.compile(r"`((?:argand|bench|cmake|compat|docs|examples|python|tests|tools)/[\w./-]*)`")
HEADER = re.compile(r"`((?:base|core|runtime|kernels|exec|ops|autograd|io|nn|optim|data|models)/[\w./-]+\.h)`")  # below argand/
NOTE = re.compile(r"Note \[([^\]]+)\]")
VARIABLE = re.compile(r"\b((?:ARGAND|TORCH|PYTORCH)_[A-Z][A-Z_]+)\b(?!\()")
DEV = re.compile(r"\./dev ([a-z][\w-]*)((?: (?:--[\w-]+|[a-z][\w-]*))*)")
# A program of this tree, and what stands behind it on its line.
PROGRAM = re.compile(r"(bin/argand|(?<![\w/])(?:python/tests|tests|tools|bench)/[\w/]+\.py)\b([^`\n#]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
SOURCES = (".cpp", ".h", ".cuh", ".inc", ".py", ".pyi", ".txt", ".cmake", ".json", ".sh", ".toml", "dev")


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


@functools.lru_cache
def sources(tree):
    """The text of all files that are not pages."""
    return "".join(tree.text(path) for path in tree.all_files(*SOURCES) if not path.startswith("tools/check/self_test"))


@functools.lru_cache
def texts(tree, *under):
    return "".join(tree.text(path) for path in tree.all_files(".cpp", ".h", ".py", under=under))


def missing_of_dev(tree, text):
    """Commands and options of `./dev` on pages that the script `dev` does not have."""
    usage = tree.text("dev")
    for command, rest in DEV.findall(text):
        if not re.search(rf"^  {command}\b", usage, re.MULTILINE):
            yield f"command ./dev {command}"
            continue
        for option in OPTION.findall(rest):
            if option not in usage:
                yield f"option {option} of ./dev {command}"


def missing_of_programs(tree, text):
    """Commands of bin/argand and options of programs on pages that their sources do not have."""
    for program, rest in PROGRAM.findall(text):
        own = program == "bin/argand"
        if not own and not (tree.root / program).exists():
            yield program
            continue
        source = texts(tree, "tools/argand/") if own else tree.text(program)
        command = re.match(r" ([a-z]+)", rest)
        if own and command and f'"{command[1]}"' not in source:
            yield f"command {program} {command[1]}"
        for option in OPTION.findall(rest):
            if f'"{option}"' not in source and f'"{option[2:]}"' not in source and option != "--help":
                yield f"option {option} of {program}"


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
        missing += [name for name in HEADER.findall(text) if not (tree.root / "argand" / name).exists()]
        missing += [f"Note [{title}]" for title in NOTE.findall(" ".join(text.split()))
                    if title != "Title" and f"Note [{title}]" not in sources(tree)]
        if not page.startswith("docs/design/"):  # which have plans, too
            missing += [name for name in VARIABLE.findall(text) if not re.search(rf"\b{name}\b", sources(tree))]
        missing += [*missing_of_dev(tree, text), *missing_of_programs(tree, text)]
        found += [f"{page}: there is no {name}" for name in missing]
    return found
