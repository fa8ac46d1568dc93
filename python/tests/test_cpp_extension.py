"""torch.utils.cpp_extension: extensions in C++ do what they do with PyTorch (recorded/extensions.txt, from 2.15).

Each extension costs seconds of compiling, so that there are few, and each test uses one for many questions.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import argand
import pytest
from argand.utils import cpp_extension

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "custom_op"


def missing():
    """Why no extension can be built here; None if one can."""
    from argand.utils._cpp_extension import compilers, places
    try:
        places.need_pybind11()
        places.python_include()
        compilers.checked_compiler()
        places.library()
    except RuntimeError as error:
        return str(error)


builds = pytest.mark.skipif(missing() is not None, reason=missing() or "")


def run(*arguments, **options):
    done = subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def timeless(folder):
    """The times of the files that a build makes."""
    return {p.name: p.stat().st_mtime_ns for p in folder.rglob("*") if p.suffix in (".o", ".so")}


# PyTorch's caster of at::Scalar takes nothing.
NUMBERS = """
import sys, argand
from argand.utils.cpp_extension import load
m = load("argand_module", sys.argv[1])
try:
    m.scalars(argand.ones(1), 1)
except TypeError:
    print(m.scalars(2, 2.5), m.scalars(True, 1j), "TypeError")
"""


# The same blocks of TORCH_LIBRARY again: with PyTorch that ends the process.
TWICE = """
import shutil, sys, argand
argand.ops.load_library(sys.argv[1])
try:
    argand.ops.load_library(shutil.copy(sys.argv[1], sys.argv[1] + ".copy"))
except RuntimeError as error:
    print(str(error)[:76])
print(argand.ops.argand_ext.triple(argand.ones(1)).item(), len(argand.ops.loaded_libraries))
"""


@builds
def test_a_program_prints_what_it_prints_with_pytorch_and_builds_once(tmp_path):
    program = ["-m", "argand", str(HERE / "extensions" / "program.py")]
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(tmp_path)}
    recorded = (HERE / "recorded" / "extensions.txt").read_text()
    assert run(*program, env=environment) == recorded
    made = timeless(tmp_path)
    assert {"argand_module.so", "argand_ops.so"} <= set(made)
    assert run(*program, env=environment) == recorded and timeless(tmp_path) == made
    assert run("-c", NUMBERS, str(HERE / "extensions" / "module.cpp"), env=environment) == "[2, 2.5] [True, 1j] TypeError\n"
    twice = run("-c", TWICE, str(tmp_path / "argand_ops" / "argand_ops.so"))
    assert twice == "Only a single TORCH_LIBRARY can be used to register the namespace argand_ext\n3.0 1\n"


@builds
def test_the_example_builds_and_runs(tmp_path):
    pytest.importorskip("setuptools")
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__"))
    run("-m", "argand", "setup.py", "build_ext", "--inplace", cwd=tmp_path / "example")
    (module,) = (tmp_path / "example" / "custom_op_example").glob("_C.*.so")
    assert not list(module.parent.glob("*.command"))
    out = run("-m", "argand", "run.py", cwd=tmp_path / "example").splitlines()
    assert out[:3] == ["agrees with silu(gate) * up: True", "gradients are right: True", "without elements: (3, 5)"]
    losses = [float(line.split()[-1]) for line in out[3:]]
    assert len(losses) == 3 and losses[0] > 10 * losses[2]


# A Python module without any header of Argand's or pybind11's: it compiles at once.
TINY = """
#include <Python.h>
#ifndef ANSWER
#define ANSWER 1
#endif
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tiny", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
extern "C" PyObject* PyInit_tiny() {
  PyObject* const m = PyModule_Create(&definition);
  PyModule_AddIntConstant(m, "answer", ANSWER);
  return m;
}
"""


def tiny(folder, text=TINY, **options):
    return cpp_extension.load_inline("tiny", text, no_implicit_headers=True, build_directory=str(folder), **options)


@builds
def test_what_changed_is_built_again_under_another_name(tmp_path):
    first = tiny(tmp_path)
    assert first.answer == 1 and tiny(tmp_path) is first
    made = timeless(tmp_path)
    assert set(made) >= {"tiny.so"}
    second = tiny(tmp_path, extra_cflags=["-DANSWER=2"])
    assert second.answer == 2 and first.answer == 1 and (tmp_path / "tiny_v1.so").exists()
    (tmp_path / "answer.h").write_text("#define ANSWER 3\n")
    third = tiny(tmp_path, '#include "answer.h"\n' + TINY, extra_include_paths=[str(tmp_path)], keep_intermediates=False)
    assert third.answer == 3 and not list(tmp_path.glob("*.o"))


@builds
def test_a_header_that_changed_is_noticed(tmp_path):
    from argand.utils._cpp_extension import building, compilers
    (tmp_path / "own.h").write_text("int f();\n")
    (tmp_path / "source.cpp").write_text('#include "own.h"\nint f() { return 1; }\n')
    source, out = str(tmp_path / "source.cpp"), str(tmp_path / "source.o")

    def step(*flags):
        return building.Step(compilers.cxx_command(source, out, "name", flags), out, [source])
    assert building.run_all([step()], "name") and not building.run_all([step()], "name")
    assert building.run_all([step("-DX")], "name") and step("-DX").is_done() and not step().is_done()
    later = os.stat(out).st_mtime_ns + 10**9
    os.utime(tmp_path / "own.h", ns=(later, later))
    assert not step("-DX").is_done()
    (tmp_path / "own.h").unlink()
    assert not step("-DX").is_done()


@builds
def test_errors_of_the_compiler_arrive(tmp_path):
    with pytest.raises(RuntimeError, match="Error building extension 'tiny'") as error:
        tiny(tmp_path, "#error this is wrong\n")
    assert "this is wrong" in str(error.value) and "main.cpp" in str(error.value)
    with pytest.raises(RuntimeError, match="cannot find -lno_such_library"):
        tiny(tmp_path, extra_ldflags=["-lno_such_library"])
    with pytest.raises(ImportError):
        tiny(tmp_path, "int f() { return 1; }\n")  # no PyInit_tiny
    with pytest.warns(UserWarning, match=r"-std=c\+\+17 gives way to -std=c\+\+20"):
        assert tiny(tmp_path, extra_cflags=["-std=c++17", "-DANSWER=__cplusplus"]).answer == 202002


def test_bad_arguments_are_refused(tmp_path):
    load, inline = cpp_extension.load, cpp_extension.load_inline
    with pytest.raises(ValueError, match="name: expected the name of a Python module, got 'a/b'"):
        load("a/b", [__file__])
    with pytest.raises(ValueError, match="got '../up'"):
        inline("../up", "")
    with pytest.raises(ValueError, match="at least one source"):
        load("empty", [], build_directory=str(tmp_path))
    with pytest.raises(FileNotFoundError, match="there is no file /nowhere/a.cpp"):
        load("absent", "/nowhere/a.cpp", build_directory=str(tmp_path))
    with pytest.raises(TypeError, match="extra_cflags: expected str, got int"):
        load("flags", __file__, extra_cflags=[1], build_directory=str(tmp_path))
    with pytest.raises(ValueError, match="functions: expected names"):
        inline("functions", "", functions=["f(); evil"], build_directory=str(tmp_path))
    with pytest.raises(NotImplementedError, match="with_sycl: there is no backend for SYCL"):
        load("sycl", __file__, with_sycl=True)
    with pytest.raises(NotImplementedError, match="device_type: expected 'cpu' or 'cuda', got 'xpu'"):
        cpp_extension.include_paths("xpu")


def test_device_code_is_not_linked(monkeypatch):
    pytest.importorskip("setuptools")
    from argand.utils._cpp_extension import compilers, places
    monkeypatch.setattr(places, "CUDA_HOME", "/usr/local/cuda")
    with pytest.raises(NotImplementedError, match="CUDAExtension: pack._C: dlink: the device code of several sources is not linked"):
        cpp_extension.CUDAExtension("pack._C", ["a.cu"], dlink=True)
    # nvcc gets the compiler alone, without its flags.
    monkeypatch.setattr(compilers, "checked_compiler", lambda: "c++ -m64")
    command = compilers.nvcc_command("a.cu", "a.o", "a")
    assert command[command.index("-ccbin") + 1] == shutil.which("c++")


def test_compilers_that_cannot_do_it_are_refused(monkeypatch):
    from argand.utils._cpp_extension import compilers
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="'no-such-compiler' does not run"):
        compilers.checked_compiler()
    monkeypatch.setattr(compilers, "_macros", lambda compiler: {"__clang__": "1", "__GNUC__": "4"})
    with pytest.raises(RuntimeError, match="its own copies of the library's state"):
        compilers.checked_compiler()
    assert not cpp_extension.check_compiler_is_gcc("clang++")
    monkeypatch.setattr(compilers, "_macros", lambda compiler: {"__GNUC__": "9", "__GNUC_MINOR__": "4", "__GNUC_PATCHLEVEL__": "0"})
    with pytest.raises(RuntimeError, match="GCC 9.4.0"):
        compilers.checked_compiler()


def test_without_pybind11_the_remedy_is_named(tmp_path, monkeypatch):
    from argand.utils._cpp_extension import places
    monkeypatch.setattr(places, "pybind11_folder", lambda: None)
    with pytest.raises(RuntimeError, match="python -m pip install pybind11"):
        cpp_extension.load("none", __file__, build_directory=str(tmp_path))
    assert not any("pybind11" in folder for folder in cpp_extension.include_paths())


def test_gpus_of_cuda_sources(monkeypatch):
    from argand.utils._cpp_extension import compilers
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "8.0;9.0a+PTX")
    assert compilers.arch_flags([]) == ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90a,code=sm_90a",
                                        "-gencode=arch=compute_90a,code=compute_90a"]
    assert compilers.arch_flags(["-arch=sm_90"]) == []
    monkeypatch.setenv("TORCH_CUDA_ARCH_LIST", "Hopper")
    with pytest.raises(ValueError, match="expected numbers such as 9.0"):
        compilers.arch_flags([])


def test_jobs(monkeypatch):
    from argand.utils._cpp_extension import building
    monkeypatch.setenv("MAX_JOBS", "3")
    assert building.num_jobs() == 3
    monkeypatch.setenv("MAX_JOBS", "none")
    with pytest.raises(ValueError, match="MAX_JOBS: expected a positive number, got 'none'"):
        building.num_jobs()


def test_libraries_of_pytorch_are_not_loaded(tmp_path):
    other = tmp_path / "other.so"
    other.write_bytes(b"\x7fELF\0libc10.so\0libtorch.so\0")
    with pytest.raises(OSError, match="was built for PyTorch's C\\+\\+ library"):
        argand.ops.load_library(other)
    (tmp_path / "empty.so").write_bytes(b"")
    with pytest.raises(OSError, match="file too short"):
        argand.ops.load_library(tmp_path / "empty.so")


@builds
@pytest.mark.skipif(cpp_extension.CUDA_HOME is None, reason="there is no CUDA toolkit")
def test_a_cuda_source_compiles(tmp_path):
    from argand.utils._cpp_extension import building, compilers
    source, out = str(HERE / "extensions" / "leaky.cu"), str(tmp_path / "leaky.o")
    step = building.Step(compilers.nvcc_command(source, out, "leaky"), out, [source])
    assert building.run_all([step], "leaky") and step.is_done()
