"""Builds the fuzzers of this folder with clang, AddressSanitizer and UBSan, and runs each on seeds made here.

    python3 tests/fuzz/run.py --build build/release [--target torch_file] [--seconds 20] [--seed 1]

The readers (argand/io, argand/vision) are compiled again with the sanitizers; the rest of the library is taken as it is
built.  Exits with 77 and a sentence where clang's libFuzzer is not installed.
"""
import argparse
import glob
import gzip
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The files of argand/io and argand/vision that each target is about; the others are in the library.
COMMON = ["io/file", "io/mapped_file", "io/utf8", "io/vfs"]
SOURCES = {
    "torch_file": COMMON + ["io/decimal", "io/pickle", "io/pickle_writer", "io/torch_file", "io/torch_legacy", "io/torch_names",
                            "io/torch_storage", "io/value", "io/zip"],
    "safetensors": COMMON + ["io/safetensors", "io/safetensors_header"],
    "data_files": COMMON + ["io/cifar", "io/gzip", "io/idx", "io/tar", "io/text", "vision/image", "vision/jpeg", "vision/png"],
}
FLAGS = ["-std=c++20", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-sanitize=vptr,function"]


def torch_file_seeds():
    """Whole files, and their pickles alone; the first byte says which it is."""
    for path in sorted((ROOT / "tests/data/checkpoints").glob("*.pt")):
        yield b"\0" + path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                pickles = [n for n in archive.namelist() if n.endswith("/data.pkl")]
                yield b"\1" + archive.read(pickles[0])


def safetensors_seeds():
    """Whole files, and without the length before the header."""
    header = {"__metadata__": {"k": "v\u00e9"}, "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
              "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [8, 11]}, "c": {"dtype": "I64", "shape": [0, 3], "data_offsets": [11, 11]}}
    for part in ({}, {"a": header["a"]}, header):
        text = json.dumps(part).encode()
        data = bytes(max([entry["data_offsets"][1] for name, entry in part.items() if name != "__metadata__"], default=0))
        yield b"\0" + struct.pack("<Q", len(text)) + text + data
        yield b"\1" + text + data


def data_files_seeds():
    """One small file of each format behind the byte that chooses it."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    idx = b"\0\0\x08\2" + struct.pack(">II", 2, 3) + b"abcdef"
    yield from (b"\0" + idx, b"\0" + gzip.compress(idx), b"\1a,\"b\"\"\n\"\r\n1,2\n", b"\2" + bytes(3073))
    for colour, row in ((0, b"\0\1\2"), (2, bytes(7)), (3, b"\0\0\1"), (6, bytes(9))):
        yield (b"\3\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, colour, 0, 0, 0)) +
               (chunk(b"PLTE", bytes(6)) if colour == 3 else b"") + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b""))
    sys.path.insert(0, str(ROOT / "tests/cli"))
    from harness import jpeg
    yield b"\3" + jpeg([10, 200, 90])
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
            for name in ("a/" * 60 + "b" * 80 + ".txt", "c.txt"):
                info = tarfile.TarInfo(name)
                info.size = 3
                archive.addfile(info, io.BytesIO(b"abc"))
        yield b"\4" + buffer.getvalue()


def main():
    """Builds and runs; the exit status is libFuzzer's."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--target", choices=sorted(SOURCES), help="all of them, if not given")
    parser.add_argument("--seconds", type=int, default=20, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if not clang or not glob.glob("/usr/lib/llvm*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a"):
        print("fuzz: skipped, because clang with libFuzzer is not installed (clang-14, libclang-rt-14-dev)")
        return 77
    codes = [fuzz(clang, options, name) for name in ([options.target] if options.target else sorted(SOURCES))]
    return max(codes, key=abs)


def fuzz(clang, options, name):
    """Builds and runs one target."""
    build = options.build.resolve()
    out = build / "fuzz" / name  # targets are built side by side
    out.mkdir(parents=True, exist_ok=True)
    include = [f"-I{ROOT}", f"-I{build}/generated"]
    objects = []
    for source in [f"{ROOT}/argand/{s}.cpp" for s in SOURCES[name]] + [f"{ROOT}/tests/fuzz/{name}_fuzz.cpp"]:
        objects.append(str(out / (pathlib.Path(source).stem + ".o")))
        launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
        subprocess.run(launcher + [clang, *FLAGS, "-fsanitize=fuzzer-no-link", *include, "-c", source, "-o", objects[-1]], check=True)
    program = out / f"{name}_fuzz"
    subprocess.run([clang, *FLAGS, "-fsanitize=fuzzer", *objects, f"-L{build}/lib", "-largand", "-lz", "-lpng", "-ljpeg",
                    f"-Wl,-rpath,{build}/lib", "-o", program], check=True)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(globals()[f"{name}_seeds"]()):
            (pathlib.Path(folder) / str(number)).write_bytes(seed)
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=0:detect_odr_violation=0")
        run = subprocess.run([program, folder, f"-max_total_time={options.seconds}", f"-seed={options.seed}", "-max_len=16384", "-rss_limit_mb=1024",
                              "-timeout=10", "-print_final_stats=1", f"-artifact_prefix={out}/"], env=environment, check=False)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
