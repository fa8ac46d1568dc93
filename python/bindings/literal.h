// Tensors from Python's values.
#pragma once
#include "bindings/object.h"

namespace argand::python {

// A new tensor with the elements of nested sequences of numbers, of a number, a tensor, or an object with NumPy's array
// interface.  Without a dtype: bool, int64, the default float dtype or complex, whatever holds all elements; that of a
// tensor or array.  ShapeError (a ValueError in Python) for ragged sequences, TypeError for other elements.
Tensor tensor_from(PyObject* value, const TensorOptions& options);
// A tensor over the memory of an object with NumPy's array interface, which it keeps alive.
Tensor tensor_over(PyObject* array);
// Whether there is an array interface.
bool is_array(PyObject* object);

// Tensor(2, 3), Tensor([1, 2]), Tensor(tensor), Tensor(): of the default float dtype, as in PyTorch.
Tensor legacy_tensor(PyObject* arguments, PyObject* keywords);

void add_literals(nb::module_& module);

}  // namespace argand::python
