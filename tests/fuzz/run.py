"""Builds the fuzzers of this folder with clang, AddressSanitizer and UBSan, and runs them: on seeds made here and on the kept corpus.

    python3 tests/fuzz/run.py --build build/release [--target torch_file] [--seconds 20 | --runs 10000000] [--seed 1] [--jobs 1] [--keep]

The readers (argand/io, argand/vision, argand/parallel/store, argand/jit) are compiled again with the sanitizers; the rest of the library is taken as it is
built.  With --keep, what a run found is merged into tests/fuzz/corpus: one archive a target, the fewest inputs that reach all
code and are small.  Exits with 1 where something was found, and with 77 and a sentence where clang's libFuzzer is not installed.
"""
import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from seeds import SEEDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
READERS = [f"argand/io/{name}" for name in (
    "cifar", "decimal", "file", "gzip", "idx", "pickle", "pickle_writer", "safetensors", "safetensors_header", "tar",
    "text", "torch_archive", "torch_file", "torch_legacy", "torch_names", "torch_storage", "utf8", "value", "vfs", "zip")] + [
        f"argand/vision/{name}" for name in ("image", "jpeg", "png")] + [
            f"argand/parallel/store/{name}" for name in ("server_core", "table", "wire")] + [
                f"argand/jit/{name}" for name in ("class", "compiler", "function", "lexer", "parser", "program", "scope", "types")]
JUDGES = [str(path.relative_to(ROOT).with_suffix("")) for path in sorted((ROOT / "tests/fuzz").glob("*.cpp")) if path.stem != "main"]
# Stacks of calls that returned are not kept: with exceptions that takes half of the time.
FLAGS = ["-std=c++20", "-O2", "-gline-tables-only", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined",
         "-fno-sanitize=vptr,function", "-fsanitize-address-use-after-return=never"]
# libFuzzer's own status for a finding is 77, which is that of a skipped test.
FOUND, SKIPPED = 1, 77
PLANTED = "planted"
# Longer inputs find nothing that short ones do not, and are slow.
LONGEST = {"tar": 8192, "torch_file": 4096, "cifar": 6200}
# Freed memory is held back, but not so much that the caches are left; stacks of allocations are short.
ASAN = "detect_leaks=1:allocator_may_return_null=0:detect_odr_violation=0:quarantine_size_mb=4:malloc_context_size=1:max_malloc_fill_size=256"


def main():
    """Builds and runs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--target", choices=sorted(SEEDS), help="all of them, one after the other, if not given")
    parser.add_argument("--seconds", type=int, default=20, help="for each target; 0: only build")
    parser.add_argument("--runs", type=int, default=-1, help="so many executions instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes that share out the executions")
    parser.add_argument("--self-test", action="store_true", help="whether a finding is reported")
    parser.add_argument("--built", action="store_true", help="run the programs that are there")
    parser.add_argument("--keep", action="store_true", help="merge what is found into tests/fuzz/corpus")
    options = parser.parse_args()
    out = options.build.resolve() / "fuzz"
    targets = [options.target] if options.target else sorted(SEEDS)
    clang = clang_with_libfuzzer()
    if not clang and not (options.built and all((out / target).exists() for target in targets)):
        print("fuzz: skipped, because no clang with libFuzzer is installed (clang-16, libclang-rt-16-dev)")
        return SKIPPED
    if not options.built:
        build(clang, options.build.resolve(), out)
    if options.self_test:
        return self_test(out, options)
    if options.seconds == 0 and options.runs < 0:
        return 0
    return max(fuzz(out, options, target) for target in targets)


def clang_with_libfuzzer():
    """The compiler, or None."""
    for clang in filter(None, map(shutil.which, ("clang++-16", "clang++-14", "clang++"))):
        found = subprocess.run([clang, "-print-runtime-dir"], capture_output=True, text=True, check=False).stdout.strip()
        if glob.glob(f"{glob.escape(found)}/libclang_rt.fuzzer*.a") or glob.glob(f"{pathlib.Path(found).parent}/linux/libclang_rt.fuzzer*.a"):
            return clang
    return None


def self_test(out, options):
    """A target with a planted finding must fail, and with no status that means anything else."""
    status = fuzz(out, options, PLANTED)
    for artifact in out.glob(f"{PLANTED}-*"):
        artifact.unlink()
    print(f"fuzz: the planted finding gave status {status}, expected {FOUND}")
    return 0 if status == FOUND else 1


def build(clang, folder, out):
    """A program for each target.  What is compiled already is taken from ccache."""
    (out / "objects").mkdir(parents=True, exist_ok=True)
    include = [f"-I{ROOT}", f"-I{folder}/generated"]
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    library = out / "objects/readers.a"
    # The judges are not instrumented for coverage: the readers' coverage guides the search for inputs.  A program links only
    # the parts of the library that it needs, as each instrumented part costs time in every execution.
    work = [(source, [], out / "objects" / (source.replace("/", "_") + ".o")) for source in READERS + JUDGES]
    work += [("tests/fuzz/main", [f"-DARGAND_FUZZ_TARGET={target}"], out / "objects" / f"main_{target}.o") for target in (*SEEDS, PLANTED)]

    def compile_one(item):
        source, extra, to = item
        coverage = ["-fsanitize=fuzzer-no-link"] if source in READERS else []
        subprocess.run(launcher + [clang, *FLAGS, *coverage, *extra, *include, "-c", f"{ROOT}/{source}.cpp", "-o", to], check=True)

    def link_one(target):
        subprocess.run([clang, *FLAGS, "-fsanitize=fuzzer", out / "objects" / f"main_{target}.o", library, f"-L{folder}/lib", "-largand",
                        "-lz", "-lpng", "-ljpeg", f"-Wl,-rpath,{folder}/lib", "-o", out / target], check=True)

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(compile_one, work))
        library.unlink(missing_ok=True)
        subprocess.run(["ar", "rcs", library, *[to for source, _, to in work if source != "tests/fuzz/main"]], check=True)
        list(pool.map(link_one, (*SEEDS, PLANTED)))


def kept(target):
    """The inputs of the corpus."""
    if not (CORPUS / f"{target}.zip").exists():
        return []
    with zipfile.ZipFile(CORPUS / f"{target}.zip") as archive:
        return [archive.read(name) for name in archive.namelist()]


def keep(target, inputs):
    """An archive that depends on the inputs alone."""
    CORPUS.mkdir(exist_ok=True)
    with zipfile.ZipFile(CORPUS / f"{target}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, data in enumerate(sorted(inputs, key=lambda d: (len(d), d))):
            archive.writestr(zipfile.ZipInfo(f"{number:04}"), data, zipfile.ZIP_DEFLATED, 9)


def fuzz(out, options, target):
    """Runs one target, in as many processes as asked for, whose seeds follow each other; all begin with the same inputs."""
    longest = LONGEST.get(target, 1024)
    environment = dict(os.environ, ASAN_OPTIONS=ASAN)
    seeds = [*SEEDS[target](), *kept(target)] if target != PLANTED else [b"planted"]
    limit = f"-runs={options.runs // options.jobs}" if options.runs >= 0 else f"-max_total_time={options.seconds}"
    common = ["-rss_limit_mb=1024", "-timeout=10", f"-artifact_prefix={out}/{target}-", f"-max_len={longest}"]
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(job) for job in range(options.jobs)]
        runs = []
        for job, folder in enumerate(folders):
            folder.mkdir()
            for number, data in enumerate(seeds):
                (folder / str(number)).write_bytes(data)
            log = open(f"{folder}.log", "w", encoding="utf-8")  # closed with the process
            runs.append(subprocess.Popen([out / target, folder, limit, f"-seed={options.seed + job}", "-reload=0", "-entropic=0",
                                          "-print_final_stats=1", *common], env=environment, stderr=log, stdout=log))
        failed = [job for job, run in enumerate(runs) if run.wait() != 0]
        logs = [pathlib.Path(f"{folder}.log").read_text(encoding="utf-8", errors="replace") for folder in folders]
        print("\n".join(logs[job] for job in failed or [0]))
        count = [sum(map(int, re.findall(rf"^stat::{what}: +(\d+)", "\n".join(logs), re.M))) for what in ("number_of_executed_units", "accepted_inputs")]
        print(f"fuzz: {target}: {count[0]} executions, {count[1]} inputs accepted, {len(failed)} of {options.jobs} processes found something")
        if options.keep:
            merged = pathlib.Path(name) / "merged"
            merged.mkdir()
            subprocess.run([out / target, "-merge=1", merged, *folders, *common], env=environment, check=True)
            keep(target, [path.read_bytes() for path in merged.iterdir()])
    return FOUND if failed else 0


if __name__ == "__main__":
    sys.exit(main())
