"""Where the headers and libraries are against which extensions are built."""
import functools
import glob
import importlib.util
import os
import shutil
import sysconfig

from ... import _C

_PACKAGE = os.path.dirname(os.path.abspath(_C.__file__))
# An installed package has its headers and libraries in it.  A package in a build folder has this file, with a line for each folder.
_BUILD_FOLDERS = os.path.join(_PACKAGE, "_build_folders.txt")


@functools.cache
def _folders(kind):
    if not os.path.exists(_BUILD_FOLDERS):
        own = os.path.join(_PACKAGE, "include")
        return (own, os.path.join(own, "argand", "compat")) if kind == "include" else (os.path.join(_PACKAGE, "lib"),)
    with open(_BUILD_FOLDERS, encoding="utf-8") as file:
        lines = [line.rstrip("\n").partition(" ") for line in file]
    return tuple(folder for word, _, folder in lines if word == kind)


def library():
    """The file of the library that extensions are linked with."""
    found = [path for folder in _folders("library") for path in sorted(glob.glob(os.path.join(folder, "libargand.so.*")), key=len)]
    if not found:
        raise RuntimeError(f"torch.utils.cpp_extension: {_folders('library')[0]} has no libargand.so: this package was installed without "
                           "what extensions need")
    return found[0]


def find_cuda_home():
    """The folder of the CUDA toolkit; None if there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home:
        return home
    nvcc = shutil.which("nvcc")
    if nvcc:
        return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    return "/usr/local/cuda" if os.path.exists("/usr/local/cuda/bin/nvcc") else None


CUDA_HOME = find_cuda_home()


def cuda_home():
    """The folder of the CUDA toolkit; OSError if there is none."""
    if CUDA_HOME is None:
        raise OSError("CUDA_HOME environment variable is not set. Please set it to your CUDA install root.")
    return CUDA_HOME


def pybind11_folder():
    """The folder of pybind11's headers; None if pybind11 is not installed."""
    found = importlib.util.find_spec("pybind11")
    if found is None or not found.submodule_search_locations:
        return None
    folder = os.path.join(found.submodule_search_locations[0], "include")
    return folder if os.path.exists(os.path.join(folder, "pybind11", "pybind11.h")) else None


def need_pybind11():
    """RuntimeError with the remedy if there is no pybind11."""
    if pybind11_folder() is None:
        raise RuntimeError("extensions that are Python modules need the headers of pybind11: python -m pip install pybind11")


def _cuda_folders(*names):
    return [folder for name in names if os.path.isdir(folder := os.path.join(cuda_home(), name))]


def _device_type(device_type):
    if device_type not in ("cpu", "cuda"):
        raise NotImplementedError(f"torch.utils.cpp_extension: device_type: expected 'cpu' or 'cuda', got {device_type!r}")
    return device_type


def include_paths(device_type="cpu", torch_include_dirs=True):
    """The folders of headers: Argand's with torch/extension.h, pybind11's if it is installed, and CUDA's for the device type "cuda"."""
    found = list(_folders("include")) if torch_include_dirs else []
    if torch_include_dirs and pybind11_folder() is not None:
        found.append(pybind11_folder())
    return found + (_cuda_folders("include") if _device_type(device_type) == "cuda" else [])


def python_include():
    """The folder of the headers of Python.  RuntimeError if they are not there."""
    folder = sysconfig.get_path("include", scheme="posix_prefix")
    if not os.path.exists(os.path.join(folder, "Python.h")):
        raise RuntimeError(f"extensions need the headers of Python, and {folder} has no Python.h: install your system's python3-dev")
    return folder


def library_paths(device_type="cpu", torch_include_dirs=True):
    """The folders of libraries: Argand's, and CUDA's for the device type "cuda"."""
    found = list(_folders("library")) if torch_include_dirs else []
    return found + (_cuda_folders("lib64", "lib") if _device_type(device_type) == "cuda" else [])


def default_build_root():
    """The folder in which extensions are built: TORCH_EXTENSIONS_DIR, or one below ~/.cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(cache, "torch_extensions")
