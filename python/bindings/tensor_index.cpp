// x[...] and x[...] = value.
#include "argand/ops/index/tensor_index.h"

#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "bindings/dispatch.h"
#include "bindings/items.h"
#include "bindings/literal.h"
#include "bindings/numbers.h"
#include "bindings/overrides.h"
#include "bindings/tensor_object.h"

namespace argand::python {
namespace {

using indexing::TensorIndex;

std::optional<int64_t> bound(PyObject* slice, const char* name) {
  const nb::object value = nb::handle(slice).attr(name);
  if (value.is_none()) return std::nullopt;
  if (!is_integer(value.ptr(), false)) {
    PyErr_SetString(PyExc_TypeError, "slice indices must be integers or None or have an __index__ method");
    throw nb::python_error();
  }
  if (is_tensor(value.ptr())) return to_integer(value.ptr());
  const Py_ssize_t number = PyNumber_AsSsize_t(value.ptr(), nullptr);  // as in Python, what is too large is the largest
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

TensorIndex one_index(PyObject* key, const Device& device) {
  if (key == Py_None) return indexing::None;
  if (key == Py_Ellipsis) return indexing::Ellipsis;
  if (is_bool(key)) return PyObject_IsTrue(key) == 1;
  if (PySlice_Check(key)) {
    const auto step = bound(key, "step");
    ARGAND_CHECK(ValueError, step.value_or(1) > 0, "step must be greater than zero");
    return indexing::Slice(bound(key, "start"), bound(key, "stop"), step);
  }
  if (is_tensor(key)) return as_tensor(key);
  if (is_integer(key, false)) return to_integer(key);
  if (PySequence_Check(key) && !PyUnicode_Check(key)) {
    const nb::object made = nb::steal(shown(tensor_from(key, TensorOptions().device(device))));
    const Tensor& indices = as_tensor(made.ptr());
    // An empty list becomes a tensor of the default dtype, but stands for indices.
    return indices.numel() == 0 && !argand::is_integral(indices.dtype(), true) ? indices.to(kLong) : indices;
  }
  if (PyUnicode_Check(key)) {
    PyErr_SetString(PyExc_TypeError, "new(): invalid data type 'str'");
    throw nb::python_error();
  }
  PyErr_Format(
      PyExc_IndexError,
      "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got %s)",
      type_name(key).c_str());
  throw nb::python_error();
}

// A list with elements that are not numbers counts as a tuple, as in PyTorch (and once in NumPy): x[[[0, 1], [1, 2]]]
// is x[[0, 1], [1, 2]].
bool is_index_list(PyObject* key) {
  if (PyTuple_Check(key)) return true;
  if (!PyList_Check(key) || PyList_Size(key) >= 32) return false;
  const Items items(key);
  for (Py_ssize_t i = 0; i < items.size(); ++i) {
    PyObject* const item = items[i];
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor(item)) return true;
    if (PySequence_Check(item) && !is_integer(item, false)) return true;
  }
  return false;
}

std::vector<TensorIndex> read_key(const Tensor& self, PyObject* key) {
  std::vector<TensorIndex> indices;
  if (!is_index_list(key)) {
    indices.push_back(one_index(key, self.device()));
    return indices;
  }
  const Items items(key);
  for (Py_ssize_t i = 0; i < items.size(); ++i) indices.push_back(one_index(items[i], self.device()));
  return indices;
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* key) {
  PyObject* const arguments[] = {self, key};
  if (is_overridden(arguments, 2)) return call_override("__getitem__", self, key);
  return guarded([&] {
    const Tensor& t = as_tensor(self);
    const std::vector<TensorIndex> indices = read_key(t, key);
    Tensor result;
    {
      const NoGil no_gil;
      result = indexing::get_item(t, indices);
      // x[...] is another tensor, as in PyTorch, so that changing its attributes leaves x alone.
      if (result.is_same(t)) result = argand::alias(t);
    }
    return wrap(std::move(result));
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const arguments[] = {self, key, value};
  const int count = value ? 3 : 2;  // del x[key]
  if (is_overridden(arguments, count)) {
    return guarded_status([&] {
      const nb::handle type(reinterpret_cast<PyObject*>(tensor_type));
      const nb::object method = type.attr(value ? "__setitem__" : "__delitem__");
      PyObject* const result = call_override(method.ptr(), arguments, count, nullptr);
      if (!result) throw nb::python_error();
      Py_DECREF(result);
    });
  }
  return guarded_status([&] {
    if (!value) {
      PyErr_SetString(PyExc_TypeError, "Tensor does not support deleting items");
      throw nb::python_error();
    }
    const Tensor& t = as_tensor(self);
    const std::vector<TensorIndex> indices = read_key(t, key);
    if (!is_tensor(value) && is_number(value, true)) {
      // A number of more than 64 bits is a ValueError here, as in PyTorch.
      const bool integer = PyLong_Check(value) && !PyBool_Check(value);
      const Tensor number = exec::wrapped_number(integer ? Scalar(to_integer(value)) : to_scalar(value));
      const NoGil no_gil;
      indexing::set_item(t, indices, number);
      return;
    }
    const nb::object given = is_tensor(value) ? nb::borrow(value) : nb::steal(shown(tensor_from(value, t.options())));
    const Tensor source = as_tensor(given.ptr());
    const NoGil no_gil;
    indexing::set_item(t, indices, source);
  });
}

}  // namespace argand::python
