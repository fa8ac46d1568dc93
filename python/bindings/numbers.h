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
bool fits_int64(PyObject* integer);
Scalar to_scalar(PyObject* object);
// The same for a number beside values of type `beside`: an integer of 2^63 to 2^64 - 1, which a Scalar cannot hold, is
// rounded to a float where the other values are floating-point or complex numbers, so that the result is the same.
Scalar to_scalar(PyObject* object, ScalarType beside);
std::string to_text(PyObject* object);

PyObject* wrap(const Scalar& value);

}  // namespace argand::python
