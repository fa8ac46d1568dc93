"""load() and load_inline(): compile sources while the program runs, and import what they make."""
import hashlib
import importlib.util
import os
import shlex
import sys
import threading

from ..._ignored import harmless
from ..._library_ops import load_library, loading
from . import building, compilers, places

_loaded = {}  # name -> (what it was made of, version, what load() returned)
_lock = threading.RLock()


def _strings(value, what):
    """A list of texts; one text is a list of one."""
    found = [value] if isinstance(value, (str, os.PathLike)) else list(value or ())
    for text in found:
        if not isinstance(text, (str, os.PathLike)):
            raise TypeError(f"torch.utils.cpp_extension: {what}: expected str, got {type(text).__name__}")
    return [os.fspath(text) for text in found]


def build_directory_of(name, verbose=False):
    """The folder of an extension's files, which is made."""
    root = places.default_build_root()
    if "TORCH_EXTENSIONS_DIR" not in os.environ:  # one for each Python, apart from what PyTorch builds
        root = os.path.join(root, f"argand_py{sys.version_info.major}{sys.version_info.minor}")
    if verbose:
        print(f"Using {root} as PyTorch extensions root...", file=sys.stderr)
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    return folder


def _checked(name):
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"torch.utils.cpp_extension: name: expected the name of a Python module, got {name!r}")
    return name


def _no_sycl(**given):
    for name, value in given.items():
        if value:
            raise NotImplementedError(f"torch.utils.cpp_extension: {name}: there is no backend for SYCL")


def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None, extra_include_paths=None,
         build_directory=None, verbose=False, with_cuda=None, with_sycl=None, is_python_module=True, is_standalone=False,
         keep_intermediates=True):
    """Builds an extension of source files in C++ (and CUDA, by the ending .cu) and loads it: the Python module that PYBIND11_MODULE defines;
    None with is_python_module=False, for a library of TORCH_LIBRARY ops; the path of the program with is_standalone=True.

    Only what changed is compiled.  Another extension of a name that is loaded is built as NAME_v1 and so on.  RuntimeError with the
    compiler's text if it fails.
    """
    _no_sycl(extra_sycl_cflags=extra_sycl_cflags, with_sycl=with_sycl)
    sources = [os.path.abspath(path) for path in _strings(sources, "sources")]
    return _build_and_load(_Extension(
        name, sources, extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, build_directory, verbose, with_cuda,
        is_python_module, is_standalone, keep_intermediates))


@harmless(with_pytorch_error_handling="errors of the library become the exceptions of its own functions in any case",
          use_pch="a header that is compiled before changes the time of the build alone")
def load_inline(name, cpp_sources, cuda_sources=None, sycl_sources=None, functions=None, extra_cflags=None, extra_cuda_cflags=None,
                extra_sycl_cflags=None, extra_ldflags=None, extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None,
                with_sycl=None, is_python_module=True, with_pytorch_error_handling=True, keep_intermediates=True, use_pch=False,
                no_implicit_headers=False):
    """load() of sources that are texts.  `functions` are names, or a dict of names and documentation, of functions that the Python module
    is to have; cpp_sources must declare them.  Headers are included before the texts, unless no_implicit_headers."""
    _no_sycl(sycl_sources=sycl_sources, extra_sycl_cflags=extra_sycl_cflags, with_sycl=with_sycl)
    cpp, cuda = _strings(cpp_sources, "cpp_sources"), _strings(cuda_sources, "cuda_sources")
    if not no_implicit_headers:
        cpp.insert(0, "#include <torch/extension.h>")
        cuda[:0] = ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>"] if cuda else []
    if functions is not None:
        cpp.append(_module_of(functions))
    folder = build_directory or build_directory_of(_checked(name), verbose)
    sources = [os.path.join(folder, "main.cpp")] + ([os.path.join(folder, "cuda.cu")] if cuda else [])
    with _lock, building.locked(folder):
        for path, texts in zip(sources, (cpp, cuda)):
            building.write_if_new(path, "\n".join(texts) + "\n")
        return _build_and_load(_Extension(
            name, sources, extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, folder, verbose,
            bool(cuda) if with_cuda is None else with_cuda, is_python_module, False, keep_intermediates), is_locked=True)


def _module_of(functions):
    """The PYBIND11_MODULE of functions."""
    named = functions if isinstance(functions, dict) else {f: f for f in _strings(functions, "functions")}
    lines = []
    for function, text in named.items():
        if not isinstance(text, str) or not function.replace("::", "_").isidentifier():
            raise ValueError(f"torch.utils.cpp_extension.load_inline: functions: expected names with texts, got {function!r}: {text!r}")
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  m.def("{function.rpartition("::")[2]}", {function}, "{escaped}");')
    return "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n" + "\n".join(lines) + "\n}"


class _Extension:
    """What one call of load() asks for."""

    def __init__(self, name, sources, cflags, cuda_cflags, ldflags, include_paths, build_directory, verbose, with_cuda, is_python_module,
                 is_standalone, keep_intermediates):
        if not sources:
            raise ValueError(f"torch.utils.cpp_extension: sources: expected at least one source of the extension {name!r}")
        for path in sources:
            if not os.path.exists(path):
                raise FileNotFoundError(f"torch.utils.cpp_extension: sources: there is no file {path}")
        self.name, self.sources, self.verbose, self.keep_intermediates = _checked(name), sources, verbose, keep_intermediates
        self.cflags, self.cuda_cflags = _strings(cflags, "extra_cflags"), _strings(cuda_cflags, "extra_cuda_cflags")
        self.ldflags, self.folders = _strings(ldflags, "extra_ldflags"), _strings(include_paths, "extra_include_paths")
        self.folder = build_directory or build_directory_of(name, verbose)
        self.with_cuda = any(path.endswith(compilers.CUDA_ENDS) for path in sources) if with_cuda is None else with_cuda
        self.is_python_module, self.is_standalone = is_python_module and not is_standalone, is_standalone
        if self.is_python_module:
            places.need_pybind11()

    def made_of(self):
        """Changes with the sources' texts and with the options."""
        hashed = hashlib.sha256(repr((self.sources, self.cflags, self.cuda_cflags, self.ldflags, self.folders, self.folder, self.with_cuda,
                                      self.is_python_module, self.is_standalone)).encode("utf-8", "surrogateescape"))
        for path in self.sources:
            with open(path, "rb") as file:
                hashed.update(file.read())
        return hashed.hexdigest()

    def _compiled(self, source):
        """The step that compiles a source."""
        place = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        out = os.path.join(self.folder, f"{os.path.basename(source)}.{place}.o")
        # A flag may hold several words, as a shell would read them.
        if source.endswith(compilers.CUDA_ENDS):
            flags = [word for flag in self.cuda_cflags for word in shlex.split(flag)]
            command = compilers.nvcc_command(source, out, self.name, flags, self.folders)
        else:
            flags = [word for flag in self.cflags for word in shlex.split(flag)]
            command = compilers.cxx_command(source, out, self.name, flags, self.folders, self.with_cuda)
        return building.Step(command, out, [source])

    def build(self, version):
        """The path of the file that is made."""
        own = f"{self.name}_v{version}" if version else self.name
        out = os.path.join(self.folder, own + ("" if self.is_standalone else ".so"))
        compiled = [self._compiled(source) for source in self.sources]
        objects = [step.out for step in compiled]
        flags = [word for flag in self.ldflags for word in shlex.split(flag)]
        linked = building.Step(compilers.link_command(objects, out, flags, self.with_cuda, self.is_standalone), out,
                               [*objects, places.library()])
        building.run_all(compiled, self.name, self.verbose)
        if not linked.is_done():
            linked.run(self.name, self.verbose)
        if not self.keep_intermediates:
            for path in (p + end for p in objects for end in ("", ".d", ".command")):
                if os.path.exists(path):
                    os.remove(path)
        return out

    def load(self, path):
        """What load() returns of the built file."""
        if self.is_standalone:
            return path
        if not self.is_python_module:
            load_library(path)
            return None
        own = os.path.basename(path).removesuffix(".so")
        spec = importlib.util.spec_from_file_location(self.name, path)
        with loading():
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        module.__name__ = own
        return module


def _build_and_load(extension, is_locked=False):
    """Builds and loads, once for what the extension is made of."""
    with _lock:
        made_of = extension.made_of()
        known, version, result = _loaded.get(extension.name, (None, -1, None))
        if known == made_of:
            return result
        if is_locked:
            path = extension.build(version + 1)
        else:
            with building.locked(extension.folder):
                path = extension.build(version + 1)
        _loaded[extension.name] = (None, version + 1, None)  # a file that is loaded cannot be another, even if it is of no use
        result = extension.load(path)
        _loaded[extension.name] = (made_of, version + 1, result)
        return result
