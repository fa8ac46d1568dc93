"""Comments name files that are there, and what a header declares is defined or used somewhere."""
import collections
import re

CODE = (".h", ".cpp", ".cuh", ".cu", ".inc", ".py", ".pyi", ".cmake")
SELF_TEST = "tools/check/self_test.py"  # has names that must not be found
# A file, perhaps with folders before it: after a word, a quote or a bracket it is something else.
FILE = re.compile(r'(?<![\w<"./*-])((?:[\w-]+/)*[\w-]+\.(?:h|cpp|cuh|py|md|cmake|inc))(?![\w(*])')
HASH_COMMENT, DOCSTRING, SLASH_COMMENT = re.compile(r"(?m)#(.*)$"), re.compile(r'"""(.*?)"""', re.S), re.compile(r"(?m)//(.*)$")
# Files of users' programs or of other libraries, or made up in an example.
FOREIGN = {"train.py", "hubconf.py", "jpeglib.h", "a.cpp", "_test.cpp", "ATen/cuda/Atomic.cuh"}
DECLARED = re.compile(r"^ *(?!return\b|else\b|throw\b|new\b|delete\b|using\b)(?=\w)[\w:<>,*&\[\] ]*?[\s*&](\w+)\([^;{}]*\)[\s\w]*;", re.M)


def comments(path, text):
    if path.endswith((".py", ".pyi", ".cmake")):
        return HASH_COMMENT.findall(text) + DOCSTRING.findall(text)
    return SLASH_COMMENT.findall(text)


def absent_files(tree):
    """Where a name may lead: any trailing part of the path of a file, here or among the generated ones."""
    generated = tree.generated()
    paths = [path for path in tree.all_files("") if not path.startswith(".")]
    paths += [str(path.relative_to(generated)) for path in generated.rglob("*") if path.is_file()] + ["argand/base/mutants.h"]
    known = set(FOREIGN)
    for path in paths:
        parts = path.split("/")
        known.update("/".join(parts[i:]) for i in range(len(parts)))
    for path in tree.files(*CODE):
        if path == SELF_TEST:
            continue
        for comment in comments(path, tree.text(path)):
            for name in FILE.findall(comment):
                if name not in known:
                    yield f"{path}: a comment names {name}, which is not there"


def dead_declarations(tree):
    """Functions of which the declaration is the only mention."""
    generated = tree.generated()
    texts = {path: SLASH_COMMENT.sub("", tree.text(path)) for path in tree.all_files(*CODE, ".c", ".in", ".md", ".txt", ".json")
             if path != SELF_TEST}
    mentions = collections.Counter()
    for text in [*texts.values(), *(path.read_text(encoding="utf-8") for path in generated.rglob("*") if path.is_file())]:
        mentions.update(re.findall(r"\w+", text))
    for path in tree.files(".h", ".inc"):
        for name in DECLARED.findall(texts[path]):
            if mentions[name] == 1 and not name.isupper():
                yield f"{path}: {name}() is declared, but neither defined nor used"


def findings(tree):
    return [*absent_files(tree), *dead_declarations(tree)]
