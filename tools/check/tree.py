"""What the checks share: the files of a source tree, and running a command on each of them."""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOTS = (".", "compat/torch")  # where #include finds headers of the tree
SKIPPED = {"build", "install", "out", "__pycache__"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# As cmake/ArgandOptions.cmake, for the checks that compile without a build folder.
CXX_FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion", "-Werror",
             '-DARGAND_VERSION="0"']


class Tree:
    """The files below `root`; `only` limits the checks to these paths (the self-test does)."""

    def __init__(self, root, jobs, only=None):
        self.root = root
        self.jobs = jobs
        self.only = only
        self.work = root / "build" / "check"  # caches and generated files

    def files(self, *suffixes, under=("",)):
        """Those to check: paths relative to the root, sorted."""
        return [path for path in self.all_files(*suffixes, under=under) if self.only is None or path in self.only]

    def all_files(self, *suffixes, under=("",)):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if path.endswith(suffixes) and path.startswith(tuple(under)):
                    found.append(path)
        return found

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def generated(self):
        """The folder with the generated files, made anew; it exists (empty) while there is no generator."""
        out = self.work / "generated"
        out.mkdir(parents=True, exist_ok=True)
        generator = self.root / "tools/generate/generate.py"
        if generator.exists():
            subprocess.run([sys.executable, generator, "--out", out], cwd=self.root, check=True)
        return out

    def compile_flags(self):
        return CXX_FLAGS + [f"-I{self.root / root}" for root in ROOTS] + [f"-I{self.work / 'generated'}"]

    def each(self, items, findings_of):
        """findings_of(item) for all items, in parallel; the findings in the order of the items."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return [line for lines in pool.map(findings_of, items) for line in lines]


class Passed:
    """Remembers what passed, by a hash over all the text that the verdict depends on."""

    def __init__(self, tree, check, *settings):
        self.tree = tree
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.folder = cache / "argand/check" / check  # of the user: a fresh clone knows what another found
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = repr(settings).replace(str(tree.root), "").encode()
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            places = [self.tree.root / root / path for root in ROOTS] + [self.tree.work / "generated" / path]
            full = next((place for place in places if place.exists()), None)
            self.texts[path] = full.read_text(encoding="utf-8") if full else ""
        return self.texts[path]

    def key(self, path):
        digest, seen, waiting = hashlib.sha256(self.settings), {path}, [path]
        while waiting:
            current = waiting.pop()
            text = self.text(current)
            digest.update(f"{current}\0{text}\0".encode())
            for _, name in INCLUDE.findall(text):
                if name.startswith(("argand/", "tools/", "tests/", "torch/", "ATen/", "c10/")) and name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return self.folder / digest.hexdigest()

    def known(self, path):
        return self.key(path).exists()

    def remember(self, path):
        self.key(path).touch()

    def unless_known(self, path, findings_of):
        if self.known(path):
            return []
        found = findings_of(path)
        if not found:
            self.remember(path)
        return found


def tool(name, major):
    """The pinned version of an LLVM tool: another one formats and warns differently."""
    for candidate in (f"{name}-{major}", name):
        path = shutil.which(candidate)
        if path and f"version {major}." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    sys.exit(f"check: {name} {major} not found (package {name}-{major})")
