"""Builds tests/fuzz/torch_file_fuzz.cpp with clang, AddressSanitizer and UBSan, and runs it on tests/data/checkpoints.

    python3 tests/fuzz/run.py --build build/release [--seconds 20] [--seed 1]

The reader (argand/io) is compiled again with the sanitizers; the rest of the library is taken as it is built.  Exits with
77 and a sentence where clang's libFuzzer is not installed.
"""
import argparse
import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The reader's own files; the others of argand/io are in the library.
SOURCES = ["decimal", "file", "mapped_file", "pickle", "pickle_writer", "torch_file", "torch_legacy", "torch_names", "torch_storage", "utf8",
           "value", "vfs", "zip"]
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-sanitize=vptr,function"]


def seeds(folder):
    """Whole files, and their pickles alone; the first byte says which it is (torch_file_fuzz.cpp)."""
    for path in sorted((ROOT / "tests/data/checkpoints").glob("*.pt")):
        (folder / path.name).write_bytes(b"\0" + path.read_bytes())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                pickles = [n for n in archive.namelist() if n.endswith("/data.pkl")]
                (folder / (path.name + ".pkl")).write_bytes(b"\1" + archive.read(pickles[0]))


def main():
    """Builds and runs; the exit status is libFuzzer's."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if not clang or not glob.glob("/usr/lib/llvm*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a"):
        print("fuzz: skipped, because clang with libFuzzer is not installed (clang-14, libclang-rt-14-dev)")
        return 77
    build = options.build.resolve()
    out = build / "fuzz"
    out.mkdir(exist_ok=True)
    include = [f"-I{ROOT}", f"-I{build}/generated"]
    objects = []
    for source in [f"{ROOT}/argand/io/{s}.cpp" for s in SOURCES] + [f"{ROOT}/tests/fuzz/torch_file_fuzz.cpp"]:
        objects.append(str(out / (pathlib.Path(source).stem + ".o")))
        launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
        subprocess.run(launcher + [clang, *FLAGS, "-fsanitize=fuzzer-no-link", *include, "-c", source, "-o", objects[-1]], check=True)
    program = out / "torch_file_fuzz"
    subprocess.run([clang, *FLAGS, "-fsanitize=fuzzer", *objects, f"-L{build}/lib", "-largand", "-lz", f"-Wl,-rpath,{build}/lib", "-o", program],
                   check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        seeds(corpus)
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=0:detect_odr_violation=0")
        run = subprocess.run([program, corpus, f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-max_len=16384", "-rss_limit_mb=1024",
                              "-timeout=10", "-print_final_stats=1", f"-artifact_prefix={out}/"], env=environment, check=False)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
