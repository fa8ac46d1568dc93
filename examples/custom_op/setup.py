"""Builds the package: python -m argand setup.py build_ext --inplace, or the same with PyTorch and without -m argand."""
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(name="custom_op_example", version="0.1", packages=["custom_op_example"],
      ext_modules=[CppExtension("custom_op_example._C", ["csrc/silu_mul.cpp"], extra_compile_args={"cxx": ["-O2"]})],
      cmdclass={"build_ext": BuildExtension})
