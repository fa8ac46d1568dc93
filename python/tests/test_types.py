"""What mypy and pyright (as basedpyright) say of programs that use the package, by the stubs that tools/generate writes."""
import ast
import importlib
import importlib.util
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import types
import venv

import argand
import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = pathlib.Path(argand.__file__).parents[1]
STUBS = PACKAGES / "argand-stubs"
PLANTED = (HERE / "planted_types.py").read_text()


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory):
    """A Python that has the package installed, which is where checkers look for packages of stubs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (site / "argand.pth").write_text(f"{PACKAGES}\n")
    return folder / "bin" / "python"


def need(tool):
    """Skips a test where the tool is not installed.  `./dev test` installs both, so it is a failure where CI is set."""
    if importlib.util.find_spec(tool) is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{tool} is not installed")


def run_mypy(interpreter, folder):
    """{(file, line, code)} of the errors that mypy finds in the programs of a folder."""
    need("mypy")
    files = sorted(str(path) for path in folder.rglob("*.py"))
    done = subprocess.run([sys.executable, "-m", "mypy", "--python-executable", interpreter, "--cache-dir", folder.parent / "mypy",
                           "--config-file=", "--check-untyped-defs", "--ignore-missing-imports", "--no-error-summary",
                           "--hide-error-context", "--scripts-are-modules", *files], capture_output=True, text=True, cwd=folder)
    assert done.returncode in (0, 1) and not done.stderr, done.stdout + done.stderr
    found = re.findall(r"^(?:.*/)?([\w.]+):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    assert len(found) == done.stdout.count(": error: "), done.stdout
    return {(name, int(line), code) for name, line, code in found}


def run_pyright(interpreter, folder):
    """The same of pyright, with pyright's own settings rather than those of basedpyright."""
    need("basedpyright")
    config = {"include": ["."], "typeCheckingMode": "standard", "reportMissingImports": "none", "reportMissingModuleSource": "none",
              "reportPossiblyUnboundVariable": "none"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    done = subprocess.run([sys.executable, "-m", "basedpyright", "--outputjson", "--level", "error", "--pythonpath", interpreter, "-p", folder],
                          capture_output=True, text=True, cwd=folder)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(list(folder.rglob("*.py")))
    return {(pathlib.Path(d["file"]).name, d["range"]["start"]["line"] + 1, d.get("rule", d["message"])) for d in answer["generalDiagnostics"]}


CHECKERS = pytest.mark.parametrize("check, place", [(run_mypy, 0), (run_pyright, 1)], ids=["mypy", "pyright"])


def by_our_name(program):
    """A program that imports torch, as one that imports argand."""
    program = re.sub(r"^import torch$", "import argand as torch", program, flags=re.M)
    return re.sub(r"^(import|from) torch\b", r"\1 argand", program, flags=re.M)


@CHECKERS
def test_planted_errors_are_found_and_nothing_else(interpreter, tmp_path, check, place):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "by_torch.py").write_text(PLANTED)
    (programs / "by_argand.py").write_text(by_our_name(PLANTED))
    wanted = {}
    for number, line in enumerate(PLANTED.splitlines(), 1):
        if "  # error: " in line:
            wanted[number] = line.rpartition("# error: ")[2].split(", ")[place]
    assert len(wanted) > 25
    found = check(interpreter, programs)
    for name in ("by_torch.py", "by_argand.py"):
        # A call that fits no overload has two messages of pyright.
        codes = {line: {code for n, at, code in found if n == name and at == line} for n, line, _ in found if n == name}
        assert codes.keys() == wanted.keys(), (name, sorted(codes.keys() ^ wanted.keys()), codes)
        wrong = {line: codes[line] for line, code in wanted.items() if code not in codes[line]}
        assert not wrong, (name, wrong)


@CHECKERS
def test_examples_have_no_errors(interpreter, tmp_path, check, place):
    programs = tmp_path / "programs"
    programs.mkdir()
    examples = sorted((ROOT / "examples" / "python").glob("*.py"))
    readme = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    assert len(examples) > 8 and readme
    for path in examples:
        (programs / path.name).write_text(path.read_text())
    for number, text in enumerate(readme):
        (programs / f"readme_{number}.py").write_text(text)
    assert sorted(check(interpreter, programs)) == []


def test_the_stubs_are_consistent(interpreter, tmp_path):
    """Every name that a stub takes from another is there, and every type is one.  What remains are classes that override a method of their
    base in a way that only the sources can change."""
    need("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--python-executable", interpreter, "--cache-dir", tmp_path / "mypy", "--config-file=",
                           "--ignore-missing-imports", "--no-error-summary", "--disable-error-code=override", "--disable-error-code=misc",
                           "-p", "argand"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def names_of_stub(path, seen=None):
    """The names that a stub declares or shows, those of `import *` among them."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            base = path.parent.joinpath(*[".."] * (node.level - 1), *(node.module or "").split(".")) if node.level else None
            source = base.with_suffix(".pyi") if base.with_suffix(".pyi").exists() else base / "__init__.pyi"
            found |= {name for name in names_of_stub(source) if not name.startswith("_")}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname for alias in node.names if alias.asname)
    return found


MODULES = ["", "nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "utils.data", "linalg", "fft", "special", "cuda", "autograd",
           "distributions", "distributed", "func", "fx", "jit", "amp", "random", "profiler"]


@pytest.mark.parametrize("name", MODULES)
def test_a_stub_has_every_public_name(name):
    module = importlib.import_module("argand" + ("." + name if name else ""))
    path = STUBS.joinpath(*name.split(".")) if name else STUBS
    stub = names_of_stub(path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi"))
    public = {n for n, value in vars(module).items() if not n.startswith("_")
              and not (isinstance(value, types.ModuleType) and (name or not value.__name__.startswith("argand")
                                                                or not hasattr(value, "__file__")))}  # imported by another test
    assert sorted(public - stub) == []


def test_what_stubs_show_as_a_module_is_one():
    """Where a package has a function and a file of one name, as F.dropout, the attribute is the function."""
    asked, wrong = 0, []
    for path in STUBS.rglob("__init__.pyi"):
        name = ".".join(["argand", *path.parent.relative_to(STUBS).parts])
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module is None:
                module = importlib.import_module(name)
                asked += len(node.names)
                wrong += [f"{name}.{a.asname}" for a in node.names if not isinstance(getattr(module, a.name, None), types.ModuleType)]
    assert asked > 100 and wrong == []


def test_the_stub_of_tensor_has_every_public_name():
    tree = ast.parse((STUBS / "_C.pyi").read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    declared = {node.name if isinstance(node, ast.FunctionDef) else node.target.id for node in body
                if isinstance(node, (ast.FunctionDef, ast.AnnAssign))}
    assert "__getattr__" not in declared
    named = {n for n in dir(argand.Tensor) if not n.startswith("_")} - {"eig", "lstsq", "solve", "symeig", "volatile"}  # removed by PyTorch
    kinds = {n for n in named if re.fullmatch(r"is_(ipu|maia|mtia|vulkan|xla)", n)}  # devices that there are not
    assert sorted(named - kinds - declared) == []
    assert sorted({n for n in declared if not n.startswith("_")} - named) == []


def test_no_module_has_every_name():
    assert len(list(STUBS.rglob("*.pyi"))) > 300
    for path in PACKAGES.glob("*-stubs"):
        for stub in path.rglob("*.pyi"):
            functions = [n.name for n in ast.parse(stub.read_text()).body if isinstance(n, ast.FunctionDef)]
            assert "__getattr__" not in functions, stub


def test_defaults_and_docstrings_are_those_of_the_functions():
    tree = ast.parse((STUBS / "_C.pyi").read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    (softmax,) = [f for f in functions if f.name == "cumsum" and not f.decorator_list][:1] or [None]
    assert softmax is not None and ast.get_docstring(softmax) == inspect.cleandoc(argand.cumsum.__doc__.split("\n\n", 1)[1].split("\n\n")[0])
    (conv,) = [f for f in functions if f.name == "conv2d"][:1]
    assert [ast.literal_eval(d) for d in conv.args.defaults] == [None, 1, 0, 1, 1]
    without = [f.name for f in functions for d in [*f.args.defaults, *filter(None, f.args.kw_defaults)]
               if isinstance(d, ast.Constant) and d.value is ... and f.name not in ("tensor", "as_tensor")]
    assert not without


def test_named_results_are_those_of_the_functions():
    names = names_of_stub(STUBS / "return_types.pyi")
    assert {t.__name__ for t in argand.return_types.all_return_types} == names - {"all_return_types"}
