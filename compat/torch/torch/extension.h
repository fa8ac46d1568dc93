// All that an extension of the Python package in C++ needs: the frontend, and pybind11 with the casters of tensors.
// Where the compiler finds no headers of Python, as in a program without Python, it is <torch/script.h>.
#pragma once
#if __has_include(<Python.h>)
#if __has_include(<pybind11/pybind11.h>)
#include "torch/python.h"
#else
#define PYBIND11_MODULE(name, m)                                                          \
  static_assert(false, "PYBIND11_MODULE needs pybind11: python -m pip install pybind11"); \
  [[maybe_unused]] static void argand_without_pybind11(::argand::python::Module& m)
namespace argand::python {
struct Module;
}
#endif
#endif
#include "torch/script.h"
