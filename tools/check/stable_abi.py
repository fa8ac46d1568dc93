"""The Python package uses only the stable interface of Python 3.12: one wheel serves all later versions.

Python's headers say what is not in it: what cpython/*.h declare.  Types have no members there.
"""
import re
import sysconfig
from pathlib import Path

# These are in the stable interface since 3.12; earlier headers declare them in cpython/*.h.
ADDED = {"PyObject_Vectorcall", "PyObject_VectorcallMethod", "PyVectorcall_NARGS", "PyVectorcall_Call", "PY_VECTORCALL_ARGUMENTS_OFFSET",
         "Py_TPFLAGS_HAVE_VECTORCALL", "PyType_FromMetaclass", "vectorcallfunc"}
NAME = re.compile(r"\b_?P[yY][A-Za-z]*_[A-Za-z_]+\b")
MEMBER = re.compile(r"->(tp|ob|nb|sq|mp)_\w+")


# A source may declare a function by itself that every interpreter has, but no header of the interface.
OWN = re.compile(r'extern "C" [^;]*?(\w+)\(')
DECLARED = re.compile(r"^\s*#\s*define\s+(\w+)|PyAPI_(?:FUNC|DATA)\([^)]*\)\s*\**(\w+)|^static inline[^(\n]*?\n?\**(\w+)\s*\(", re.MULTILINE)


def declared(headers):
    return {name for header in headers for names in DECLARED.findall(header.read_text()) for name in names if NAME.fullmatch(name)}


def outside():
    """The functions and macros that are not in the interface."""
    include = Path(sysconfig.get_paths()["include"])
    return declared(include.glob("cpython/*.h")) - declared(include.glob("*.h")) - ADDED


def findings(tree):
    files = tree.files(".h", ".cpp", under=("python/bindings/",))
    if not files:
        return []
    names = outside()
    if not names:
        return [f"{sysconfig.get_paths()['include']}/cpython: there are no headers of Python (python3-dev)"]
    found = []
    for path in files:
        own = set(OWN.findall(tree.text(path)))
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            used = [name for name in NAME.findall(line.split("//")[0]) if name in names and name not in own] + [m.group(0) for m in MEMBER.finditer(line)]
            found += [f"{path}:{number}: {name} is not in Python's stable interface" for name in used]
    return found
