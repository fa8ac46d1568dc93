"""The programs of examples/cpp: what they print with LibTorch, recorded in expected/, is what they print with Argand.

    python examples.py check --build BUILD [--cxx COMPILER]   installs BUILD and builds the programs against it
    python examples.py record [NAME...]                       writes expected/ (needs PyTorch)
"""
import argparse
import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import make_images

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples/cpp"
# The programs and their arguments; DATA is a folder in MNIST's format.
PROGRAMS = {"custom_dataset": [], "custom_function": [], "dcgan": ["DATA", "20"], "indexing": [],
            "lstm_language_model": [], "mnist": ["DATA", "2", "12"], "regression": [], "serialization": [],
            "transformer_language_model": [], "devices": [], "mlp": [], "char_rnn": [], "transformer": []}


def output_of(program, name, data):
    command = [str(program), *(data if a == "DATA" else a for a in PROGRAMS[name])]
    with tempfile.TemporaryDirectory() as work:
        result = subprocess.run(command, cwd=work, stdout=subprocess.PIPE, text=True, timeout=200,
                                env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    if result.returncode:
        sys.exit(f"{name}: ended with {result.returncode}\n{result.stdout}")
    return result.stdout


def expected(name):
    return HERE / f"expected/{name}.txt"


def build_with_argand(build, cxx, work):
    def run(*command):
        result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode:
            sys.exit(f"{' '.join(map(str, command))}:\n{result.stdout}")

    shutil.rmtree(work, ignore_errors=True)
    run("cmake", "--install", build, "--prefix", work / "prefix")
    run("cmake", "-S", EXAMPLES, "-B", work / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={cxx}",
        f"-DCMAKE_PREFIX_PATH={work / 'prefix'}")
    run("cmake", "--build", work / "build", "-j2")
    return {name: work / "build" / name / name for name in PROGRAMS}


def build_with_libtorch(names, cxx, work):
    from torch.utils.cpp_extension import CUDA_HOME, include_paths, library_paths
    programs = {}
    for name in names:
        programs[name] = work / name
        flags = [f"-I{path}" for path in include_paths()] + [f"-L{path}" for path in library_paths()]
        flags += [f"-Wl,-rpath,{path}" for path in library_paths()] + ["-ltorch", "-ltorch_cpu", "-lc10", "-lc10_cuda", f"-L{CUDA_HOME}/lib64", "-lcudart"]
        subprocess.run([cxx, "-std=c++20", "-w", EXAMPLES / name / "main.cpp", "-o", work / name, *flags], check=True)
    return programs


def check(options):
    work = pathlib.Path(options.build) / "libtorch-test"
    programs = build_with_argand(options.build, options.cxx, work)
    data = work / "images"
    make_images.write(data)
    well = True
    for name, program in programs.items():
        want, got = expected(name).read_text().splitlines(), output_of(program, name, data).splitlines()
        difference = list(difflib.unified_diff(want, got, "LibTorch", "Argand", lineterm=""))
        print(f"{name}: {'differs' if difference else 'as LibTorch, ' + str(len(want)) + ' lines'}")
        print("".join(line + "\n" for line in difference), end="")
        well &= not difference
    shutil.rmtree(work)
    sys.exit(not well)


def record(options):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        data = work / "images"
        make_images.write(data)
        names = options.names or list(PROGRAMS)
        for name, program in build_with_libtorch(names, options.cxx, work).items():
            expected(name).parent.mkdir(exist_ok=True)
            expected(name).write_text(output_of(program, name, data))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["check", "record"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    check(options) if options.what == "check" else record(options)


if __name__ == "__main__":
    main()
