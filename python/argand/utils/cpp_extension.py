"""Extensions in C++ for PyTorch's headers, as torch.utils.cpp_extension: they cannot be built for Argand."""
from .._refused import refused, refused_class

CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_HIP_EXTENSION = False
_WHY = "extensions written for PyTorch's C++ headers cannot be built; torch.library.custom_op() makes ops of Python functions"
CppExtension, CUDAExtension, SyclExtension, load, load_inline, include_paths, library_paths, get_compiler_abi_compatibility_and_version, \
    get_default_build_root, is_ninja_available, verify_ninja_availability = (
        refused("torch.utils.cpp_extension." + name, _WHY) for name in (
            "CppExtension", "CUDAExtension", "SyclExtension", "load", "load_inline", "include_paths", "library_paths",
            "get_compiler_abi_compatibility_and_version", "get_default_build_root", "is_ninja_available", "verify_ninja_availability"))
BuildExtension = refused_class("torch.utils.cpp_extension.BuildExtension", _WHY)
BuildExtension.with_options = classmethod(refused("torch.utils.cpp_extension.BuildExtension.with_options", _WHY))
