// The table for modules of other packages in C++ (compat/torch/torch/csrc/python_interface.h).
#include "bindings/constants.h"
#include "bindings/modules.h"
#include "bindings/numbers.h"
#include "bindings/tensor_object.h"
#include "torch/csrc/python_interface.h"

namespace argand::python {
namespace {

template <class T>
PyObject* from_bound(const T& value) {
  return guarded([&] { return nb::cast(value).release().ptr(); });
}
template <class T>
bool to_bound(PyTypeObject* type, PyObject* object, T& value) {
  return PyObject_TypeCheck(object, type) && nb::try_cast<T>(nb::handle(object), value);
}

bool to_tensor(PyObject* object, Tensor& tensor) {
  if (!is_tensor(object)) return false;
  tensor = as_tensor(object);
  return true;
}

// False for an object that no error should be about: another overload may take it.
template <class F>
bool quietly(F&& f) {
  try {
    return f();
  } catch (nb::python_error&) {  // what it raised goes with it
    return false;
  } catch (const Error&) {
    return false;
  }
}

bool to_dtype(PyObject* object, ScalarType& dtype) {
  return quietly([&] {
    const std::optional<ScalarType> found = as_dtype(object);
    if (found) dtype = *found;
    return found.has_value();
  });
}
bool to_scalar(PyObject* object, Scalar& scalar) {
  if (is_tensor(object) || !is_number(object, false)) return false;
  return quietly([&] {
    scalar = argand::python::to_scalar(object);
    return true;
  });
}
bool to_layout(PyObject* object, Layout& layout) {
  layout = Layout::Strided;
  return object == strided_layout();
}

const Interface table = {
    Interface::kVersion,
    [](const Tensor& tensor) { return guarded([&] { return wrap(tensor); }); },
    to_tensor,
    [](ScalarType dtype) { return guarded([&] { return wrap(dtype); }); },
    to_dtype,
    [](const Device& device) { return guarded([&] { return wrap(device); }); },
    [](PyObject* object, Device& device) { return to_bound(device_type, object, device); },
    [](const Scalar& scalar) { return guarded([&] { return wrap(scalar); }); },
    to_scalar,
    [](Layout) { return Py_NewRef(strided_layout()); },  // harmless: there is one layout
    to_layout,
    [](MemoryFormat format) { return from_bound(format); },
    [](PyObject* object, MemoryFormat& format) { return to_bound(memory_format_type, object, format); },
    [](const Generator& generator) { return from_bound(generator); },
    [](PyObject* object, Generator& generator) { return to_bound(generator_type, object, generator); },
    [] { set_error(); },
};

}  // namespace

void add_extensions(nb::module_& module) {
  PyObject* const capsule = PyCapsule_New(const_cast<Interface*>(&table), Interface::kCapsule, nullptr);
  if (!capsule) throw nb::python_error();
  module.attr("_extension_interface") = nb::steal(capsule);
}

}  // namespace argand::python
