"""Every header compiles alone, and twice: it includes what it uses and is guarded.

A header that a source file of the library includes first is compiled alone with that file by every build with ccache,
which neither precompiles headers nor makes batches (cmake/ArgandLayer.cmake): of such it is asked here that they say
`#pragma once`.
"""
import os
import subprocess
import sys

from tree import INCLUDE, Passed


def compiled_first(tree):
    """The headers that a source file of the library includes before any other."""
    sources = [path for path in tree.files(".cpp", under=("argand/",)) if "/cuda/" not in path and not path.endswith("_test.cpp")]
    first = (INCLUDE.search(tree.text(path)) for path in sources)
    return {match.group(2) for match in first if match}


def of_python(tree):
    """Flags for headers that extensions of Python include: the folders with the headers of Python and of pybind11."""
    python = tree.root / "build/venv/bin/python"  # ./dev installs pybind11 there
    places = "import sysconfig, pybind11; print(sysconfig.get_path('include')); print(pybind11.get_include())"
    found = subprocess.run([python if python.exists() else sys.executable, "-c", places], capture_output=True, text=True)
    return [flag for folder in found.stdout.splitlines() for flag in ("-isystem", folder)]


def findings(tree):
    compiler = os.environ.get("CXX", "c++")
    generated = tree.generated()
    headers = tree.files(".h", under=("argand/", "compat/"))
    if tree.only is None:
        headers += sorted(str(p.relative_to(generated)) for p in generated.glob("argand/**/*.h"))
    passed = Passed(tree, "headers", compiler, tree.compile_flags())
    first = compiled_first(tree)
    python = of_python(tree)

    def check(header):
        if header not in first:
            return passed.unless_known(header, alone)
        return [] if "#pragma once" in passed.text(header) else [f"{header}: has no #pragma once"]

    def alone(header):
        command = [compiler, *tree.compile_flags(), *python, "-fsyntax-only", "-x", "c++", "-"]
        text = f'#include "{header}"\n#include "{header}"\n'
        result = subprocess.run(command, input=text, cwd=tree.root, capture_output=True, text=True)
        if result.returncode == 0:
            return []
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        return [f"{header}: does not compile alone: {(errors or [result.stderr])[0]}"]

    return tree.each(headers, check)
