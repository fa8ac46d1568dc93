#include "bindings/numbers.h"

#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

[[noreturn]] void raise_type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

bool has_attribute(PyObject* object, const char* name) {
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name);
}

// NumPy's scalars, by the name of their type: NumPy itself is not needed to know them.
bool is_numpy_bool(PyObject* object) {
  const std::string name = type_name(object);
  return name == "numpy.bool_" || name == "numpy.bool";
}
bool is_numpy_array(PyObject* object) { return has_attribute(object, "__array__") && has_attribute(object, "__len__"); }

bool is_single(const Tensor& t, bool (*accepts)(ScalarType)) {
  return t.numel() == 1 && t.dim() == 0 && accepts(t.dtype());
}

// Whether the object is a 0-dim array of an integer.
bool is_integer_array(PyObject* object) {
  if (PyObject_Size(object) >= 0) return false;
  PyErr_Clear();
  PyObject* const index = PyNumber_Index(object);
  if (!index) PyErr_Clear();
  Py_XDECREF(index);
  return index;
}

}  // namespace

bool is_bool(PyObject* object) { return PyBool_Check(object) || is_numpy_bool(object); }

bool is_integer(PyObject* object, bool strict) {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  if (strict) return false;
  if (is_tensor(object)) return is_single(as_tensor(object), [](ScalarType t) { return is_integral(t); });
  return PyIndex_Check(object) && (!is_numpy_array(object) || is_integer_array(object));
}

bool is_float(PyObject* object, bool strict) {
  if (PyFloat_Check(object) || (PyLong_Check(object) && !PyBool_Check(object))) return true;
  if (strict) return false;
  if (is_tensor(object))
    return !as_tensor(object).requires_grad() &&
           is_single(as_tensor(object), [](ScalarType t) { return !is_complex(t); });
  return PyBool_Check(object) || PyIndex_Check(object) ||
         (has_attribute(object, "__float__") && !is_numpy_array(object));
}

bool is_number(PyObject* object, bool strict) {
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  if (strict) return false;
  if (is_tensor(object)) return is_single(as_tensor(object), [](ScalarType) { return true; });
  return (PyIndex_Check(object) || has_attribute(object, "__float__") || has_attribute(object, "__complex__") ||
          is_numpy_bool(object)) &&
         !is_numpy_array(object);
}

int64_t to_integer(PyObject* object) {
  int64_t value;
  if (PyLong_Check(object)) {
    value = PyLong_AsLongLong(object);
  } else if (is_tensor(object)) {
    const NoGil no_gil;
    return as_tensor(object).item().toLong();
  } else {
    const nb::object index = nb::steal(PyNumber_Index(object));
    if (!index.is_valid()) throw nb::python_error();
    value = PyLong_AsLongLong(index.ptr());
  }
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
    PyErr_Clear();
    throw ValueError("Overflow when unpacking long: expected an integer of int64, from -2^63 to 2^63 - 1");
  }
  return value;
}

double to_double(PyObject* object) {
  if (is_tensor(object)) {
    const NoGil no_gil;
    return as_tensor(object).item().toDouble();
  }
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

// OverflowError for what no integer of 64 bits is, signed or not, as in PyTorch.
static void check_any_64_bits(PyObject* integer) {
  if (PyLong_AsUnsignedLongLong(integer) != static_cast<unsigned long long>(-1) || !PyErr_Occurred()) return;
  PyErr_Clear();
  int overflow = 0;
  if (PyLong_AsLongLongAndOverflow(integer, &overflow); overflow == 0) return;
  PyErr_SetString(PyExc_OverflowError, "int too big to convert");
  throw nb::python_error();
}

bool fits_int64(PyObject* integer) {
  int overflow = 0;
  (void)PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow == 0;
}

Scalar to_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (PyBool_Check(object)) return object == Py_True;
  if (PyLong_Check(object)) {
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return value;
    check_any_64_bits(object);
    return to_integer(object);
  }
  if (is_tensor(object)) {
    const NoGil no_gil;
    return as_tensor(object).item();
  }
  if (is_numpy_bool(object)) return PyObject_IsTrue(object) == 1;
  if (PyIndex_Check(object)) return to_integer(object);
  const bool complex =
      PyComplex_Check(object) || (has_attribute(object, "__complex__") && !has_attribute(object, "__float__"));
  if (complex || type_name(object).starts_with("numpy.complex")) {
    const double real = PyComplex_RealAsDouble(object), imaginary = PyComplex_ImagAsDouble(object);
    if (PyErr_Occurred()) throw nb::python_error();
    return std::complex<double>(real, imaginary);
  }
  if (has_attribute(object, "__float__")) return to_double(object);
  raise_type_error("expected a number, got " + type_name(object));
}

Scalar to_scalar(PyObject* object, ScalarType beside) {
  if (is_integral(beside, true) || !PyLong_CheckExact(object) || fits_int64(object)) return to_scalar(object);
  check_any_64_bits(object);
  return PyLong_AsDouble(object);
}

std::string to_text(PyObject* object) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : nullptr;
  if (!text) {
    if (PyErr_Occurred()) throw nb::python_error();
    raise_type_error("expected str, got " + type_name(object));
  }
  return {text, static_cast<size_t>(length)};
}

PyObject* wrap(const Scalar& value) {
  if (value.isBoolean()) return PyBool_FromLong(value.toBool());
  if (value.isIntegral(false)) return PyLong_FromLongLong(value.toLong());
  if (!value.isComplex()) return PyFloat_FromDouble(value.toDouble());
  const auto number = value.to<std::complex<double>>();
  return PyComplex_FromDoubles(number.real(), number.imag());
}

}  // namespace argand::python
