"""Extensions in C++ for PyTorch's headers, as torch.utils.cpp_extension: they cannot be built for Argand."""
import os
import sys

from .._refused import refused, refused_class

CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False
_WHY = "extensions written for PyTorch's C++ headers cannot be built; torch.library.custom_op() makes ops of Python functions"
CppExtension, CUDAExtension, SyclExtension, load, load_inline, include_paths, library_paths, get_compiler_abi_compatibility_and_version, \
    get_default_build_root, is_ninja_available, verify_ninja_availability = (
        refused("torch.utils.cpp_extension." + name, _WHY) for name in (
            "CppExtension", "CUDAExtension", "SyclExtension", "load", "load_inline", "include_paths", "library_paths",
            "get_compiler_abi_compatibility_and_version", "get_default_build_root", "is_ninja_available", "verify_ninja_availability"))


def _get_build_directory(name, verbose=False):
    """The folder of an extension's files, which is made: packages look for what they built there."""
    root = os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "torch_extensions")
    folder = os.path.join(root, name)
    if verbose:
        print(f"Using {root} as PyTorch extensions root...", file=sys.stderr)
    os.makedirs(folder, exist_ok=True)
    return folder


BuildExtension = refused_class("torch.utils.cpp_extension.BuildExtension", _WHY)
BuildExtension.with_options = classmethod(refused("torch.utils.cpp_extension.BuildExtension.with_options", _WHY))
