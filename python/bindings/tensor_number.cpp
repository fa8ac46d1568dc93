// Operators between tensors and numbers, comparisons, conversions to numbers.
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "bindings/call.h"
#include "bindings/literal.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

// What stands beside a tensor in an operator: a tensor, a number, or nothing an operator knows.
std::optional<Tensor> operand(PyObject* object, PyObject* beside) {
  if (is_tensor(object)) return as_tensor(object);
  if (is_number(object, false))
    return exec::wrapped_number(to_scalar(object, is_tensor(beside) ? as_tensor(beside).dtype() : kLong));
  return std::nullopt;
}

// Tensor's methods of an operator, for classes that override it: with the tensor on the left, and on the right (null:
// Python asks again with the opposite comparison).
struct Names {
  const char* name;
  const char* reflected;
};

template <class F>
PyObject* binary(Names names, PyObject* a, PyObject* b, const F& f) noexcept {
  PyObject* const both[] = {a, b};
  if (is_overridden(both, 2)) return call_override(names.name, names.reflected, a, b);
  return guarded([&]() -> PyObject* {
    const std::optional<Tensor> x = operand(a, b), y = operand(b, a);
    if (!x || !y) return Py_NewRef(Py_NotImplemented);
    Tensor result;
    {
      const NoGil no_gil;
      result = f(*x, *y);
    }
    return wrap(std::move(result));
  });
}
template <class F>
PyObject* in_place(const char* name, PyObject* self, PyObject* other, const F& f) noexcept {
  PyObject* const both[] = {self, other};
  if (is_overridden(both, 2)) return call_override(name, self, other);
  return guarded([&]() -> PyObject* {
    const std::optional<Tensor> y = operand(other, self);
    if (!y) return Py_NewRef(Py_NotImplemented);
    {
      const NoGil no_gil;
      f(as_tensor(self), *y);
    }
    return Py_NewRef(self);
  });
}
template <class F>
PyObject* unary(const char* name, PyObject* self, const F& f) noexcept {
  if (is_overridden(&self, 1)) return call_override(name, self);
  return guarded([&] {
    Tensor result;
    {
      const NoGil no_gil;
      result = f(as_tensor(self));
    }
    return wrap(std::move(result));
  });
}

#define ARGAND_BINARY(name, method, reflected, expression)                                                 \
  PyObject* name(PyObject* a, PyObject* b) {                                                               \
    return binary({method, reflected}, a, b, [](const Tensor& x, const Tensor& y) { return expression; }); \
  }
ARGAND_BINARY(add, "add", "add", argand::add(x, y))
ARGAND_BINARY(subtract, "sub", "__rsub__", argand::sub(x, y))
ARGAND_BINARY(multiply, "mul", "mul", argand::mul(x, y))
ARGAND_BINARY(divide, "div", "__rtruediv__", argand::div(x, y))
ARGAND_BINARY(floor_divide, "__floordiv__", "__rfloordiv__", argand::floor_divide(x, y))
ARGAND_BINARY(remainder, "remainder", "__rmod__", argand::remainder(x, y))
ARGAND_BINARY(bitwise_and, "__and__", "__rand__", argand::bitwise_and(x, y))
ARGAND_BINARY(bitwise_or, "__or__", "__ror__", argand::bitwise_or(x, y))
ARGAND_BINARY(bitwise_xor, "__xor__", "__rxor__", argand::bitwise_xor(x, y))
ARGAND_BINARY(shift_left, "__lshift__", "__rlshift__", argand::bitwise_left_shift(x, y))
ARGAND_BINARY(shift_right, "__rshift__", "__rrshift__", argand::bitwise_right_shift(x, y))
#undef ARGAND_BINARY

PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return binary({"__pow__", "__rpow__"}, a, b, [](const Tensor& x, const Tensor& y) { return argand::pow(x, y); });
}
// A number is no matrix.
PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  PyObject* const both[] = {a, b};
  if ((!is_tensor(a) || !is_tensor(b)) && !is_overridden(both, 2)) return Py_NewRef(Py_NotImplemented);
  return binary({"matmul", "__rmatmul__"}, a, b, [](const Tensor& x, const Tensor& y) { return argand::matmul(x, y); });
}

#define ARGAND_IN_PLACE(name, method)                                                             \
  PyObject* name(PyObject* self, PyObject* other) {                                               \
    return in_place(#method, self, other, [](const Tensor& x, const Tensor& y) { x.method(y); }); \
  }
ARGAND_IN_PLACE(add_to, add_)
ARGAND_IN_PLACE(subtract_from, sub_)
ARGAND_IN_PLACE(multiply_by, mul_)
ARGAND_IN_PLACE(divide_by, div_)
ARGAND_IN_PLACE(floor_divide_by, floor_divide_)
ARGAND_IN_PLACE(reduce_modulo, remainder_)
ARGAND_IN_PLACE(and_with, bitwise_and_)
ARGAND_IN_PLACE(or_with, bitwise_or_)
ARGAND_IN_PLACE(xor_with, bitwise_xor_)
ARGAND_IN_PLACE(shift_left_by, bitwise_left_shift_)
ARGAND_IN_PLACE(shift_right_by, bitwise_right_shift_)
#undef ARGAND_IN_PLACE
PyObject* raise_to(PyObject* self, PyObject* other, PyObject*) {
  return in_place("pow_", self, other, [](const Tensor& x, const Tensor& y) { x.pow_(y); });
}

PyObject* negative(PyObject* self) {
  return unary("neg", self, [](const Tensor& x) { return argand::neg(x); });
}
PyObject* positive(PyObject* self) {
  return is_overridden(&self, 1) ? call_override("positive", self) : Py_NewRef(self);
}
PyObject* absolute(PyObject* self) {
  return unary("abs", self, [](const Tensor& x) { return argand::abs(x); });
}
PyObject* invert(PyObject* self) {
  const Tensor& t = as_tensor(self);
  if (!is_overridden(&self, 1) && (t.is_floating_point() || t.is_complex())) {
    PyErr_SetString(PyExc_TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return nullptr;
  }
  return unary("bitwise_not", self, [](const Tensor& x) { return argand::bitwise_not(x); });
}

Scalar value_of(PyObject* self) {
  const NoGil no_gil;
  return as_tensor(self).item();
}
int truth(PyObject* self) {
  if (is_overridden(&self, 1)) {
    const nb::object answer = nb::steal(call_override("__bool__", self));
    return answer.is_valid() ? PyObject_IsTrue(answer.ptr()) : -1;
  }
  try {
    const NoGil no_gil;
    return as_tensor(self).is_nonzero();
  } catch (...) {
    set_error();
    return -1;
  }
}
PyObject* as_int(PyObject* self) {
  if (is_overridden(&self, 1)) return call_override("__int__", self);
  return guarded([&]() -> PyObject* {
    const Scalar value = value_of(self);
    return value.isFloatingPoint() ? PyLong_FromDouble(value.toDouble()) : PyLong_FromLongLong(value.toLong());
  });
}
PyObject* as_index(PyObject* self) {
  if (is_overridden(&self, 1)) return call_override("__index__", self);
  return guarded([&]() -> PyObject* {
    const Tensor& t = as_tensor(self);
    if (t.numel() != 1 || t.dim() != 0 || !argand::is_integral(t.dtype(), true)) {
      PyErr_SetString(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
      return nullptr;
    }
    return PyLong_FromLongLong(value_of(self).toLong());
  });
}
PyObject* as_float(PyObject* self) {
  if (is_overridden(&self, 1)) return call_override("__float__", self);
  return guarded([&] { return PyFloat_FromDouble(value_of(self).toDouble()); });
}

template <class F>
PyType_Slot slot(int id, F* f) {
  return {id, reinterpret_cast<void*>(f)};
}

}  // namespace

PyType_Slot number_slots[] = {slot(Py_nb_add, add),
                              slot(Py_nb_subtract, subtract),
                              slot(Py_nb_multiply, multiply),
                              slot(Py_nb_true_divide, divide),
                              slot(Py_nb_floor_divide, floor_divide),
                              slot(Py_nb_remainder, remainder),
                              slot(Py_nb_power, power),
                              slot(Py_nb_matrix_multiply, matrix_multiply),
                              slot(Py_nb_and, bitwise_and),
                              slot(Py_nb_or, bitwise_or),
                              slot(Py_nb_xor, bitwise_xor),
                              slot(Py_nb_lshift, shift_left),
                              slot(Py_nb_rshift, shift_right),
                              slot(Py_nb_inplace_add, add_to),
                              slot(Py_nb_inplace_subtract, subtract_from),
                              slot(Py_nb_inplace_multiply, multiply_by),
                              slot(Py_nb_inplace_true_divide, divide_by),
                              slot(Py_nb_inplace_floor_divide, floor_divide_by),
                              slot(Py_nb_inplace_remainder, reduce_modulo),
                              slot(Py_nb_inplace_power, raise_to),
                              slot(Py_nb_inplace_and, and_with),
                              slot(Py_nb_inplace_or, or_with),
                              slot(Py_nb_inplace_xor, xor_with),
                              slot(Py_nb_inplace_lshift, shift_left_by),
                              slot(Py_nb_inplace_rshift, shift_right_by),
                              slot(Py_nb_negative, negative),
                              slot(Py_nb_positive, positive),
                              slot(Py_nb_absolute, absolute),
                              slot(Py_nb_invert, invert),
                              slot(Py_nb_bool, truth),
                              slot(Py_nb_int, as_int),
                              slot(Py_nb_index, as_index),
                              slot(Py_nb_float, as_float),
                              {0, nullptr}};

namespace {

// With an array of NumPy, which leaves == and != to tensors; one whose elements no tensor has equals none.
template <class F>
PyObject* equality(Names names, PyObject* a, PyObject* b, const F& f) noexcept {
  if (is_tensor(b) || is_number(b, false) || !is_array(b)) return binary(names, a, b, f);
  PyObject* const both[] = {a, b};
  if (is_overridden(both, 2)) return binary(names, a, b, f);
  return guarded([&]() -> PyObject* {
    nb::object other;
    try {
      other = nb::steal(wrap(tensor_from(b, as_tensor(a).device())));
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      return Py_NewRef(Py_NotImplemented);
    }
    return binary(names, a, other.ptr(), f);
  });
}

}  // namespace

PyObject* tensor_compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_LT:
      return binary({"lt", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::lt(x, y); });
    case Py_LE:
      return binary({"le", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::le(x, y); });
    case Py_EQ:
      return equality({"eq", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::eq(x, y); });
    case Py_NE:
      return equality({"ne", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::ne(x, y); });
    case Py_GT:
      return binary({"gt", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::gt(x, y); });
    default:
      return binary({"ge", nullptr}, a, b, [](const Tensor& x, const Tensor& y) { return argand::ge(x, y); });
  }
}

}  // namespace argand::python
