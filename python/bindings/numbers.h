// Numbers between Python and C++.  NumPy's scalars and tensors of one element count as numbers of their kind.
#pragma once
#include "argand/core/scalar.h"
#include "bindings/object.h"

namespace argand::python {

// Strict: Python's own types alone.  Not strict: also what converts (`__index__`, `__float__`), tensors included.
bool is_integer(PyObject* object, bool strict);
bool is_float(PyObject* object, bool strict);
bool is_number(PyObject* object, bool strict);
bool is_bool(PyObject* object);

// Throw nb::python_error where the object is of another kind or does not fit.
int64_t to_integer(PyObject* object);
double to_double(PyObject* object);
Scalar to_scalar(PyObject* object);
std::string to_text(PyObject* object);

PyObject* wrap(const Scalar& value);

}  // namespace argand::python
