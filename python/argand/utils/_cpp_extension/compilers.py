"""The compilers of extensions and the commands that are given to them."""
import functools
import os
import re
import shlex
import shutil
import subprocess
import sysconfig

from ... import _C
from ..._ignored import warn_once
from . import places

STANDARD = "-std=c++20"  # of Argand's headers
CUDA_ENDS = (".cu", ".cuh")
# Operators of CUDA's half types would be ambiguous beside those of Argand's.
_NVCC_FLAGS = ["-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
               "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr", "--expt-extended-lambda"]


def cxx_compiler():
    """The C++ compiler: CXX, or c++."""
    return os.environ.get("CXX") or "c++"


@functools.cache
def _macros(compiler):
    """What the compiler says of itself.  RuntimeError if it is not there."""
    command = [*shlex.split(compiler), "-dM", "-E", "-x", "c++", "/dev/null"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"extensions need a C++ compiler, and {compiler!r} does not run: install g++, or set CXX ({error})") from None
    return dict(line.split(" ", 2)[1:] for line in text.splitlines() if line.count(" ") >= 2)


def version_of(compiler):
    """The version of GCC; None for another compiler."""
    macros = _macros(compiler)
    if "__clang__" in macros or "__GNUC__" not in macros:
        return None
    return tuple(int(macros[name]) for name in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))


def checked_compiler():
    """The C++ compiler.  RuntimeError if an extension that it makes would have a state of its own
    (docs/design/0025-extensions.md)."""
    compiler = cxx_compiler()
    version = version_of(compiler)
    if version is None or version < (11,):
        raise RuntimeError(f"extensions need GCC 11 or newer, and {compiler!r} is " + (
            "another compiler: what it makes would have its own copies of the library's state, such as whether gradients are recorded"
            if version is None else f"GCC {'.'.join(map(str, version))}") + "; set CXX=g++")
    return compiler


def _fitting(flags, whose):
    """The flags, without an older standard and without hiding symbols, which would give the extension a state of its own."""
    older = [flag for flag in flags if re.fullmatch(r"-?-std=(c|gnu)\+\+(98|03|0x|11|14|1y|17|1z)", flag)]
    hiding = [flag for flag in flags if flag == "-fvisibility=hidden"]
    for found, instead, why in ((older, STANDARD, "which Argand's headers need"), (hiding, "the default", "so that the library's state is one")):
        if found:
            warn_once(f"torch.utils.cpp_extension: {whose}: {found[0]} gives way to {instead}, {why}")
    kept = [flag for flag in flags if flag not in older and flag not in hiding]
    return kept if any(re.match(r"-?-std=", flag) for flag in kept) else [*kept, STANDARD]


def definitions(name):
    """The macros of an extension."""
    return [f"-DTORCH_EXTENSION_NAME={name}", "-DTORCH_API_INCLUDE_EXTENSION_H"]


def _searched(folders, flag):
    return [part for folder in folders for part in (flag, folder)]


def cxx_command(source, out, name, flags=(), folders=(), with_cuda=False, whose="extra_cflags"):
    """Compiles a C++ source."""
    system = [*places.include_paths("cuda" if with_cuda else "cpu"), places.python_include()]
    return [*shlex.split(checked_compiler()), "-MD", "-MF", out + ".d", *definitions(name), *_searched(folders, "-I"),
            *_searched(system, "-isystem"), "-fPIC", *_fitting(list(flags), whose), "-c", source, "-o", out]


def arch_flags(flags):
    """The flags for the GPUs of TORCH_CUDA_ARCH_LIST ("8.0;9.0+PTX"), or of this machine; none if `flags` name some, and nvcc's own choice
    on a machine without a GPU."""
    if any("arch" in flag for flag in flags):
        return []
    wanted = os.environ.get("TORCH_CUDA_ARCH_LIST", "").replace(" ", ";").split(";")
    wanted = [arch for arch in wanted if arch] or [f"{major}.{minor}" for major, minor in _capabilities()]
    found = []
    for arch in dict.fromkeys(wanted):
        m = re.fullmatch(r"(\d+)\.(\d+[af]?)(\+PTX)?", arch)
        if m is None:
            raise ValueError(f"TORCH_CUDA_ARCH_LIST: expected numbers such as 9.0 or 9.0+PTX, got {arch!r}")
        number = m[1] + m[2]
        found.append(f"-gencode=arch=compute_{number},code=sm_{number}")
        if m[3]:
            found.append(f"-gencode=arch=compute_{number},code=compute_{number}")
    return found


def _capabilities():
    return sorted({tuple(_C.cuda.get_device_capability(i)) for i in range(_C.cuda.device_count())})


def nvcc_command(source, out, name, flags=(), folders=(), whose="extra_cuda_cflags"):
    """Compiles a CUDA source."""
    nvcc = os.path.join(places.cuda_home(), "bin", "nvcc")
    system = [*places.include_paths("cuda"), places.python_include()]
    host = shutil.which([word for word in shlex.split(checked_compiler()) if not word.startswith("-")][-1])  # without ccache and flags
    return [nvcc, "-MD", "-MF", out + ".d", *definitions(name), *_searched(folders, "-I"), *_searched(system, "-isystem"),
            *_NVCC_FLAGS, "-Xcompiler", "-fPIC", "-ccbin", host, *_fitting(list(flags), whose), *arch_flags(flags),
            "-c", source, "-o", out]


def link_command(objects, out, flags=(), with_cuda=False, is_standalone=False):
    """Makes a shared library, or a program, of objects."""
    folders = places.library_paths("cuda")[len(places.library_paths()):] if with_cuda else []
    libraries = [*(f"-L{folder}" for folder in folders), *(["-lcudart"] if with_cuda else [])]
    own = [f"-Wl,-rpath,{folder}" for folder in places.library_paths()] if is_standalone else ["-shared"]
    return [*shlex.split(checked_compiler()), *objects, *own, *flags, places.library(), *libraries, "-o", out]


def python_suffix():
    """How the file of a Python module ends."""
    return sysconfig.get_config_var("EXT_SUFFIX")
