"""Divides C++ sources into batches, each of which one file can include: no two of a batch define the same name.

Most of a compiler's time goes into the headers, which a batch reads once.  cmake/ArgandLayer.cmake compiles batches, and
tools/check/tidy.py has clang-tidy look at them.

usage: batches.py PATH...   prints a line "BATCH;PATH" for each file that is there
"""
import pathlib
import re
import sys

# A definition at the margin: a macro, a type or an alias, a function, variables.
DEFINED = re.compile(r"^#\s*define (\w+)|^(?:template <.*> )?(?:struct|class|enum class|enum|using) (\w+)"
                     r"|^(?:\[\[\w+\]\] )?(?!ARGAND_)\w[^=(\n]*?(?<![:\w])(\w+)\(|^\w.*? [*&]?([a-zA-Z]\w*)(?= =\s|\{|;|\[)"
                     r"|(?<=, )(k\w+)(?= = )", re.MULTILINE)


def defined(text):
    """The names that a source's text defines at namespace scope, as its format shows it."""
    text = text.replace("BENCHMARK_MAIN", "int main")
    return {name for match in DEFINED.findall(text) for name in match if name}


# A file with one of these lines would change the files after it in a batch: a macro above an include may change the
# header, and `using namespace` brings names into the files that follow.
CHANGES_LATER_FILES = re.compile(r"^#\s*(?:define|undef) .*^#\s*include |^using namespace ", re.MULTILINE | re.DOTALL)


def batches(paths, text_of, most):
    """The paths in lists of at most `most` whose files define different names."""
    found, alone = [], []
    for path in paths:
        text = text_of(path)
        if CHANGES_LATER_FILES.search(text):
            alone.append([path])
            continue
        names = defined(text)
        for batch, taken in found:
            if len(batch) < most and not names & taken:
                batch.append(path)
                taken |= names
                break
        else:
            found.append(([path], names))
    return [batch for batch, _ in found] + alone


def main():
    paths = [path for path in map(pathlib.Path, sys.argv[1:]) if path.exists()]  # what the build itself writes is compiled alone
    for number, batch in enumerate(batches(paths, lambda path: path.read_text(encoding="utf-8"), most=8)):
        for path in batch:
            print(f"{number};{path}")


if __name__ == "__main__":
    main()
