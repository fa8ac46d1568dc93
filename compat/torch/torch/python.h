// The C++ side of Python modules: pybind11 with casters of tensors, and the functions of LibTorch's that wrap a tensor
// as a Python object and back.
#pragma once
#include "torch/csrc/utils/pybind.h"
#include "torch/types.h"

inline bool THPVariable_Check(PyObject* object) {
  argand::Tensor tensor;
  return argand::python::interface().to_tensor(object, tensor);
}
inline argand::Tensor THPVariable_Unpack(PyObject* object) {
  argand::Tensor tensor;
  if (!argand::python::interface().to_tensor(object, tensor))
    throw pybind11::type_error("expected a Tensor, got an object of another type");
  return tensor;
}
inline PyObject* THPVariable_Wrap(const argand::Tensor& tensor) {
  return argand::python::given(argand::python::interface().from_tensor(tensor)).ptr();
}
