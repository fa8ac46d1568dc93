"""Every header compiles alone, and twice: it includes what it uses and is guarded."""
import os
import subprocess

from tree import Passed


def findings(tree):
    compiler = os.environ.get("CXX", "c++")
    generated = tree.generated()
    headers = tree.files(".h", under=("argand/", "compat/"))
    if tree.only is None:
        headers += sorted(str(p.relative_to(generated)) for p in generated.glob("argand/**/*.h"))
    passed = Passed(tree, "headers", compiler, tree.compile_flags())

    def alone(header):
        command = [compiler, *tree.compile_flags(), "-fsyntax-only", "-x", "c++", "-"]
        text = f'#include "{header}"\n#include "{header}"\n'
        result = subprocess.run(command, input=text, cwd=tree.root, capture_output=True, text=True)
        if result.returncode == 0:
            return []
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        return [f"{header}: does not compile alone: {(errors or [result.stderr])[0]}"]

    return tree.each(headers, lambda header: passed.unless_known(header, alone))
