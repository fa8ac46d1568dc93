"""Extensions in C++ and CUDA, as torch.utils.cpp_extension: written for PyTorch's headers and built against Argand's.

load() and load_inline() build while the program runs; CppExtension, CUDAExtension and BuildExtension are for a setup.py
(docs/extensions.md).
"""
import shutil

from .. import _surface
from ._cpp_extension import compilers, loading, places
from ._cpp_extension.loading import load, load_inline  # noqa: F401
from ._cpp_extension.places import CUDA_HOME, include_paths, library_paths  # noqa: F401

ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False
IS_LINUX, IS_WINDOWS, IS_MACOS = True, False, False

_get_build_directory = loading.build_directory_of


def get_default_build_root():
    """The folder in which load() makes a folder for each extension."""
    return places.default_build_root()


def get_cxx_compiler():
    """The C++ compiler: CXX, or c++."""
    return compilers.cxx_compiler()


def check_compiler_is_gcc(compiler):
    """Whether a compiler is GCC, which extensions need."""
    return compilers.version_of(compiler) is not None


def check_compiler_ok_for_platform(compiler):
    """Whether extensions can be built with a compiler."""
    return check_compiler_is_gcc(compiler)


def get_compiler_abi_compatibility_and_version(compiler):
    """Whether extensions can be built with a compiler, and its version."""
    from ..torch_version import TorchVersion
    version = compilers.version_of(compiler)
    return version is not None and version >= (11,), TorchVersion(".".join(map(str, version or (0, 0, 0))))


def is_ninja_available():
    """Whether there is the program ninja.  Builds do not need it: they compile several sources at a time, and only what changed."""
    return shutil.which("ninja") is not None


def verify_ninja_availability():
    """RuntimeError if there is no program ninja."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")


__getattr__, __dir__ = _surface.of(__name__)
