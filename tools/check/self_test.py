"""Proves that every check bites: in a copy of the tree, a planted violation must turn it red, and only that one."""
import shutil
import tempfile
from pathlib import Path

from tree import ROOT, SKIPPED, Tree

GOOD_HEADER = "#pragma once\n#include <vector>\n\nnamespace argand {\ninline std::vector<int> planted() { return {}; }\n}\n"
GOOD_SOURCE = "#include <string>\n\nnamespace argand {\nsize_t planted(const std::string& s) { return s.size(); }\n}\n"
FORMATTED = GOOD_HEADER.replace("\n}\n", "\n}  // namespace argand\n")
DIFF = """```diff
--- a/argand/base/str.h
+++ b/argand/base/str.h
+#pragma once
 #include <cstdint>
```
"""

STABLE = '#include "bindings/object.h"\nauto planted(PyObject* f, PyObject* x) {{ return {}; }}\n'
KERNEL = ("template <class T>\n__global__ void __launch_bounds__(F{{1, 2}}.threads())\n    f(const T* p, int n);\n"
          "template <class T>\n__global__ void __launch_bounds__(F{{1, 2}}.threads())\n    f(const T* p, int n) {\n"
          "  await_earlier_work();\n}\n")
KERNEL_IN_TEXT = ("void f() {\n  add(\"__global__ void k(const A a) {\\n\");\n"
                  "  add(\"  await_earlier_work();\\n  work();\\n}\\n\");\n}\n")

COSTLY = ("#include <map>\n#include <string>\ntemplate <int> struct Key {\n  bool operator<(Key) const;\n};\n" +
          "".join(f"template class std::map<Key<{i}>, std::string>;\n" for i in range(20)))

PYTHON = "python/argand/planted.py"
HARMLESS = '@harmless(scale="{}")\ndef planted(x, scale=1):\n    return x\n'
CPP_OPTIONS = "struct PlantedOptions {{\n  ARGAND_ARG(double, scale) = 1;{}\n}};\ndouble f(const PlantedOptions& o) {{\n  {}\n}}\n"
BRANCH = "def planted(x, scale=1):\n    if x is None:\n        return {}\n    return f(x) * scale\n"
CPP_UNNAMED = "#pragma once\ninline Tensor planted({}) {{ return {}; }}\n"
PASSED_ON = "def _f(y, scale):\n    return {}\n\n\ndef planted(x, scale=1):\n    return _f(x, scale)\n"
SETTING = "planted = 0\n\n\ndef set_planted(on):\n    global planted\n    planted = on\n\n\ndef get_planted():\n    return planted\n"
OP = 'struct F {\n  static constexpr auto schema = "planted(Tensor self, float scale=1) -> Tensor";\n  run(a.self, a.scale);\n};\n'

UPWARD = "def f():\n    from ..nn import Linear  # upward: {}\n"

# For each check: (planted file, good text, bad text).
PLANTS = {
    "size": [("argand/base/planted.h", "\n" * 700, "\n" * 701)],
    "scripts": [("tools/planted.py", "x = 1\n", "x = (\n"),
                ("tools/planted.sh", "if true; then :; fi\n", "if true; then :\n")],
    "layers": [
        ("argand/core/planted.h", '#include "argand/base/str.h"\n', '#include "argand/ops/functions.h"\n'),
        ("argand/base/planted.h", '#include "argand/base/str.h"\n', '#include "argand/argand.h"\n'),
        ("argand/nn/planted.h", '#include "argand/ops/functions.h"\n', '#include "argand/optim/sgd.h"\n'),
        ("argand/exec/planted.cpp", '#include "argand/runtime/x.h"\n', '#include "argand/runtime/cuda/x.h"\n'),
        ("argand/ops/x/planted.cpp", '#include "argand/base/str.h"\n', "#include <cuda_runtime.h>\n"),
        ("argand/base/planted.h", '#include "argand/base/x.h"\n', '#include "argand/base/planted.h"\n'),
        ("argand/base/planted.h", '#include "argand/base/x.h"\n', '#include "x.h"\n'),
        ("argand/kernels/api/planted.h", '#include "argand/kernels/api/x.h"\n', '#include "argand/kernels/cpu/x.h"\n'),
        ("argand/basement/planted.h", None, "\n"),
        ("argand/nn/planted.cpp", '#include "argand/nn/nn.h"\n', "#include <torch/torch.h>\n"),
    ],
    "python-layers": [
        ("python/argand/_planted.py", None, "from . import _C\n"),  # a file that the table does not have
        ("python/argand/utils/planted.py", "from .. import _C\n", "from ..nn import Linear\n"),
        ("python/argand/autograd/planted.py", "def f():\n    from .. import _C\n", "def f():\n    from ..nn import Linear\n"),
        ("python/argand/autograd/planted.py", UPWARD.format("it is asked for by name"), UPWARD.format("")),
        ("python/argand/autograd/planted.py", None, "from ..nn import Linear  # upward: a reason\n"),
        ("python/argand/nn/planted.py", None, {"python/argand/nn/planted.py": "from .planted_too import x\n",
                                               "python/argand/nn/planted_too.py": "from .planted import y\n"}),
        ("python/argand/nn/planted.py", None, {"python/argand/nn/planted.py": "from .planted_too import x\n",
                                               "python/argand/nn/planted_too.py": "def f():\n    from . import planted\n"}),
        # only argand.__main__ imports what `import torch` means, and no reason makes that right elsewhere
        ("python/argand/fx/planted.py", "from .. import nn\n", "from .._torch import view\n"),
        ("python/argand/fx/planted.py", None, "def f():\n    from .._torch.view import shows  # upward: a reason\n"),
        # planted.part runs planted/__init__.py
        ("python/argand/nn/planted_too.py", None, {"python/argand/nn/planted_too.py": "from .planted.part import y\n",
                                                   "python/argand/nn/planted/__init__.py": "from ..planted_too import x\n",
                                                   "python/argand/nn/planted/part.py": "y = 1\n"}),
    ],
    "docs": [
        ("docs/planted.md", "[a](../README.md) `argand/base/str.h`\n", "[a](../absent.md)\n"),
        ("docs/planted.md", None, "`argand/base/absent.h`\n"),
        ("docs/bad-inputs.md", "`TorchBadInput.Archives`\n", "`TorchBadInput.Planted`\n"),
        ("docs/planted.md", DIFF, DIFF.replace("once", "twice")),
        ("docs/planted.md", None, DIFF.replace("str.h", "absent.h")),
        ("docs/planted.md", "`exec/invoke.h`, Note [Lazy\nstorage]\n", "`exec/planted.h`\n"),
        ("docs/planted.md", None, "Note [Planted storage]\n"),
        ("docs/planted.md", "`ARGAND_STRICT=1`\n", "`ARGAND_PLANTED=1`\n"),
        ("docs/planted.md", "`./dev fuzz --seconds 5`\n", "`./dev planted`\n"),
        ("docs/planted.md", None, "`./dev fuzz --planted 5`\n"),
        ("docs/planted.md", "build/release/bin/argand train --data x --trace y\n", "build/release/bin/argand train --planted x\n"),
        ("docs/planted.md", None, "build/release/bin/argand planted\n"),
        ("docs/planted.md", "`tests/parity/op_db.py --device cuda`\n", "`tests/parity/op_db.py --planted`\n"),
    ],
    "pages": [("docs/planted.md", None, "# Planted\n")],
    "stale": [
        ("argand/base/planted.h", "// See base/str.h.\n", "// See base/absent.h.\n"),
        ("python/argand/planted.py", "# See str.h.\n", '"""See tools/absent.py."""\n'),
        ("argand/base/planted.h", "int planted_and_dead(int a);\ninline int f() { return planted_and_dead(1); }\n",
         "int planted_and_dead(int a);\n"),
    ],
    "options": [
        (PYTHON, 'def planted(x, scale=1):\n    return x * scale\n', 'def planted(x, scale=1):\n    return x\n'),
        (PYTHON, 'def planted(x, **rest):\n    return f(x, **rest)\n', 'def planted(x, **rest):\n    return x\n'),
        (PYTHON, HARMLESS.format("the result is the same"), HARMLESS.format("speed")),
        (PYTHON, None, HARMLESS.format("the result is the same").replace("return x", "return x, scale")),
        (PYTHON, None, HARMLESS.format("the result is the same").replace("scale=1", "**scale")),
        (PYTHON, None, HARMLESS.format("the result is the same").replace("(scale=", "(other=")),
        (PYTHON, None, 'def planted(x, scale=1):\n    del scale\n    return x\n'),
        (PYTHON, None, 'def planted(x, scale=1):\n    scale, _ = None, scale\n    return x\n'),
        (PYTHON, 'def planted(x, kind="a"):\n    if kind != "a":\n        raise ValueError(kind)\n    return x\n',
         'def planted(x, kind="a"):\n    if kind not in ("a", "b"):\n        raise ValueError(kind)\n    return x\n'),
        (PYTHON, PASSED_ON.format("y + scale"), PASSED_ON.format("y")),
        (PYTHON, BRANCH.format("f(x, scale)"), BRANCH.format("f(x)")),
        (PYTHON, BRANCH.format("f(x)  # harmless(scale): of one element it is 1"), BRANCH.format("f(x)  # harmless(scale): no")),
        (PYTHON, None, BRANCH.format("f(x, scale)  # harmless(scale): of one element it is 1")),
        (PYTHON, BRANCH.format("[]"), BRANCH.format("[f(x)]")),
        (PYTHON, BRANCH.format("f(x) if scale else x"), BRANCH.format("f(x, scale) if x else f(x)")),
        (PYTHON, 'def planted(x=None, scale=1):\n    return f(x, scale) if x else partial(planted, scale=scale)\n',
         'def planted(x=None, scale=1):\n    return f(x) if x else partial(planted, scale=scale)\n'),
        (PYTHON, None, PASSED_ON.format("y").replace("(x, scale)", "(x, scale=scale)")),
        (PYTHON, None, PASSED_ON.format("check(scale)").replace("def _f", "def check(y):\n    assert y in (1, 2)\n\n\ndef _f")),
        (PYTHON, "def planted(x, scale=1):\n    return planted(x - 1, scale) if x else scale\n",
         "def planted(x, scale=1):\n    return planted(x - 1, scale) if x else 0\n"),
        (PYTHON, 'def planted(x, kind="a"):\n    assert kind == "a"\n    return x\n',
         'def planted(x, kind="a"):\n    assert kind in ("a", "b")\n    return x\n'),
        (PYTHON, 'class Planted:\n    def __init__(self, a):\n        self.planted_a = a\n\n    def f(self):\n'
         '        return self.planted_a\n', 'class Planted:\n    def __init__(self, a):\n        self.planted_a = a\n'),
        (PYTHON, 'def set_planted(on):\n    f(on)\n\n\ndef get_planted():\n    return g()\n',
         'def set_planted(on):\n    f(on)\n\n\ndef get_planted():\n    return True\n'),
        (PYTHON, SETTING.replace("return planted", "return 2 * planted"), SETTING),
        ("python/argand/backends/planted.py", "_planted = True\n", "planted = True\n"),
        ("argand/nn/options/planted.h", CPP_OPTIONS.format("", "return o.scale();"), CPP_OPTIONS.format("", "return o.size();")),
        ("argand/nn/options/planted.h", CPP_OPTIONS.format("  // harmless: the result is the same", "return o.size();"),
         CPP_OPTIONS.format("  // harmless: no", "return o.size();")),
        ("argand/nn/options/planted.h", None, CPP_OPTIONS.format("", "return 0;\n}\nvoid PlantedImpl::pretty_print(std::ostream& s) const {\n  "
                                                                 "s << o.scale();")),
        ("compat/planted.h", CPP_UNNAMED.format("const Tensor& t, bool deep", "copy(t, deep)"), CPP_UNNAMED.format("const Tensor& t, bool", "copy(t)")),
        ("compat/planted.h", None, CPP_UNNAMED.format("const Tensor& t, std::optional<Device> /*to*/ = std::nullopt", "copy(t)")),
        ("argand/nn/planted.h", None, CPP_UNNAMED.format("const Tensor& t, [[maybe_unused]] bool deep", "copy(t)")),
        ("compat/planted.h", CPP_UNNAMED.format("const Tensor& t, bool", "copy(t)").replace("inline", "// harmless: no copy is shallow\ninline"),
         CPP_UNNAMED.format("const Tensor& t, bool", "copy(t)").replace("inline", "// harmless: no\ninline")),
        ("argand/ops/x/planted.cpp", OP, OP.replace("a.scale", "a.self")),
        ("argand/ops/x/planted.cpp", OP.replace("a.scale", "a.self").replace("struct", "// harmless(scale): results are the same\nstruct"),
         OP.replace("a.scale", "a.self").replace("struct", "// harmless(scale): no\nstruct")),
    ],
    "stable-abi": [("python/bindings/planted.cpp", STABLE.format("PyObject_CallFunctionObjArgs(f, x, nullptr)"), STABLE.format("PyObject_CallOneArg(f, x)")),
                   ("python/bindings/planted.cpp", STABLE.format("type_name(x)"), STABLE.format("Py_TYPE(x)->tp_name"))],
    "kernels": [("argand/kernels/cuda/planted.cuh", KERNEL, KERNEL.replace("  await_earlier_work();\n", "")),
                ("argand/kernels/cuda/planted.cuh", None, KERNEL.replace("{\n", "{\n  if (n < 0) return;\n")),
                ("argand/exec/cuda/planted.cpp", KERNEL_IN_TEXT, KERNEL_IN_TEXT.replace("await_earlier_work();", ""))],
    "format": [("argand/base/planted.h", FORMATTED, FORMATTED.replace("{ return {}; }", "{return {};}")),
               ("docs/planted.md", "| a row |" + " wide" * 30 + "\n\n" + "word " * 24 + "\n", "word " * 25 + "\n")],
    "headers": [("argand/base/planted.h", GOOD_HEADER, GOOD_HEADER.replace("#include <vector>\n", "")),
                ("argand/base/planted.h", GOOD_HEADER, GOOD_HEADER.replace("#pragma once\n", ""))],
    "cost": [("compat/torch/planted.h", '#pragma once\n#include "torch/torch.h"\n', COSTLY)],
    "tidy": [("argand/base/planted.cpp", GOOD_SOURCE, GOOD_SOURCE.replace("const std::string& s", "std::string s")),
             ("argand/base/planted.cpp", GOOD_SOURCE, GOOD_SOURCE.replace("size_t planted", "int f(int a) { if (a); "
                                                                           "return a; }\nsize_t planted"))],
}
# A stand-in for the generator: one file from one op file, and the three ways to go wrong.
GENERATOR = """
import os, pathlib, sys
out = pathlib.Path(sys.argv[2], 'docs', 'planted.md')
out.parent.mkdir(parents=True, exist_ok=True)
text = TEXT
if ALWAYS or not out.exists() or out.read_text() != text: out.write_text(text)
"""


def copy_of_tree(work):
    copy = Path(work, "tree")
    ignored = lambda folder, names: [n for n in names if n in SKIPPED or n in (".git", ".venv", ".cache")]
    shutil.copytree(ROOT, copy, ignore=ignored)
    return copy


def expect(check, copy, jobs, path, text, bad):
    """Findings of the self-test for one planted text, or for several, {path: text}."""
    texts = text if isinstance(text, dict) else {path: text}
    for name, content in texts.items():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text(content, encoding="utf-8")
    found = check.findings(Tree(copy, jobs, only=set(texts)))
    for name in texts:
        (copy / name).unlink()
    if bad and not any("planted" in line.lower() for line in found):
        return [f"self-test: a violation in {path} was not found:\n{str(text)[:300]}"]
    if not bad and found:
        return [f"self-test: {path} is fine, but: {line}" for line in found]
    return []


def generated_findings(check, copy, jobs):
    """The generator is replaced in the copy, so its plants are programs and not texts."""
    def run(text, always):
        program = GENERATOR.replace("TEXT", text).replace("ALWAYS", str(always))
        (copy / "tools/generate/generate.py").write_text(program, encoding="utf-8")
        return check.findings(Tree(copy, jobs))
    (copy / "tools/generate").mkdir(parents=True, exist_ok=True)
    (copy / "docs").mkdir(exist_ok=True)
    (copy / "docs/planted.md").write_text("up to date", encoding="utf-8")
    found = [f"self-test: all is up to date, but: {line}" for line in run("'up to date'", False)]
    for what, text, always in [("out of date", "'not what was committed'", False),
                               ("differs between two runs", "os.environ['PYTHONHASHSEED']", False),
                               ("rewritten although", "'up to date'", True)]:
        if not any(what in line for line in run(text, always)):
            found.append(f"self-test: a generator with output that is '{what}' was not found")
    return found


def findings(name, check, jobs):
    with tempfile.TemporaryDirectory() as work:
        copy = copy_of_tree(work)
        if name == "generated":
            return generated_findings(check, copy, jobs)
        found = []
        for path, good, bad in PLANTS[name]:
            if good is not None:
                found += expect(check, copy, jobs, path, good, bad=False)
            found += expect(check, copy, jobs, path, bad, bad=True)
        return found
