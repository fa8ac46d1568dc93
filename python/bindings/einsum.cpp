#include "bindings/einsum.h"

#include "bindings/errors.h"
#include "bindings/items.h"
#include "bindings/overrides.h"

namespace argand::python {
namespace {

// Subscripts 0 to 51 are the letters A to Z and a to z of an equation.
std::string letters_of(PyObject* sublist) {
  if (!PyList_Check(sublist) && !PyTuple_Check(sublist)) {
    set_error(PyExc_TypeError,
              "einsum(): expected a list of subscripts behind each operand, got " + type_name(sublist));
    throw nb::python_error();
  }
  const Items items(sublist);
  std::string letters;
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    PyObject* const item = items[i];
    if (item == Py_Ellipsis) {
      letters += "...";
      continue;
    }
    const nb::object number = nb::steal(PyNumber_Index(item));
    if (!number.is_valid()) throw nb::python_error();
    int overflow = 0;
    const long subscript = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
    if (overflow || subscript < 0 || subscript >= 52) {
      PyErr_SetString(PyExc_ValueError, "einsum(): subscript in subscript list is not within the valid range [0, 52)");
      throw nb::python_error();
    }
    letters += static_cast<char>(subscript < 26 ? 'A' + subscript : 'a' + subscript - 26);
  }
  return letters;
}

}  // namespace

bool takes_sublists(const FunctionTable& table, PyObject* const* arguments, size_t num_positional) {
  return num_positional > 1 && table.takes_sublists && is_tensor(arguments[0]);
}
PyObject* einsum_of_sublists(const FunctionTable& table, PyObject* const* arguments, size_t num_positional) {
  std::string equation;
  nb::list operands;
  for (size_t i = 0; i + 1 < num_positional; i += 2) {
    equation += (i ? "," : "") + letters_of(arguments[i + 1]);
    operands.append(nb::borrow(arguments[i]));
  }
  if (num_positional % 2 == 1) equation += "->" + letters_of(arguments[num_positional - 1]);
  const nb::str text(equation.c_str());
  PyObject* const packed[] = {text.ptr(), operands.ptr()};
  return call_function(table, packed, 2, nullptr);
}

PyObject* override_einsum(PyObject* self, PyObject* equation, PyObject* operands) {
  return guarded([&] {
    const Items items(operands);
    std::vector<PyObject*> arguments = {equation};
    for (Py_ssize_t i = 0; i < items.size(); ++i) arguments.push_back(items[i]);
    return call_override(self, arguments.data(), arguments.size(), nullptr);
  });
}

}  // namespace argand::python
