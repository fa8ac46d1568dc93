// argand.Tensor as an object of Python's.
//
// A tensor has one object: asking for the same tensor again gives the same object for as long as somebody holds it
// (TensorImpl::front_object).  Handles are freed with the interpreter's lock held.
#pragma once
#include "bindings/object.h"

namespace argand::python {

struct TensorObject {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* object) { return PyObject_TypeCheck(object, tensor_type); }
// REQUIRES is_tensor(object).
inline const Tensor& as_tensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object)->tensor; }

// A new reference; None for an undefined tensor.
PyObject* wrap(Tensor tensor);
// The same as an object of `type`, a subclass; `tensor` must be new to Python.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

void add_tensor_type(nb::module_& module);

// Parts of the type, each in a file of its own.
extern PyType_Slot number_slots[];  // up to {0, nullptr}
extern PyGetSetDef tensor_properties[];
PyObject* tensor_compare(PyObject* a, PyObject* b, int op);
PyObject* get_item(PyObject* self, PyObject* key);
int set_item(PyObject* self, PyObject* key, PyObject* value);

}  // namespace argand::python

// nanobind's functions take and return tensors.
namespace nanobind::detail {
template <>
struct type_caster<argand::Tensor> {
  NB_TYPE_CASTER(argand::Tensor, const_name("argand.Tensor"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (source.is_none()) {
      value = {};
      return true;
    }
    if (!argand::python::is_tensor(source.ptr())) return false;
    value = argand::python::as_tensor(source.ptr());
    return true;
  }
  static handle from_cpp(const argand::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return argand::python::wrap(tensor);
  }
};
}  // namespace nanobind::detail
