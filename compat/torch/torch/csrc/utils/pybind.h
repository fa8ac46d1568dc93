// pybind11's casters of tensors, dtypes, devices and the like, and of errors: functions that PYBIND11_MODULE binds may
// take and return them.  A tensor keeps its storage and its history: both languages see one tensor.
#pragma once
#include "torch/csrc/python_interface.h"
// clang-format off: the header of Python, which the line above includes, stands before any standard header
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
// clang-format on

#include "argand/base/array_ref.h"
#include "argand/base/error.h"
#include "c10/namespaces.h"

namespace py = pybind11;

namespace argand::python {

inline const Interface& interface() {
  const Interface* const found = find_interface();
  if (!found) throw pybind11::error_already_set();
  return *found;
}

inline pybind11::handle given(PyObject* object) {
  if (!object) throw pybind11::error_already_set();
  return object;
}

// Argand's errors become the exceptions that argand's own functions raise.
inline void translate(std::exception_ptr error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const Error&) {
    interface().set_error();
  }
}

// Once for each library, when it is loaded; in a program without an interpreter there is nobody to tell.
inline bool register_translator() {
  if (!Py_IsInitialized()) return false;
  const PyGILState_STATE state = PyGILState_Ensure();  // ctypes may load a library without the lock
  pybind11::register_local_exception_translator(&translate);
  PyGILState_Release(state);
  return true;
}
[[maybe_unused]] static const bool translator_registered = register_translator();

}  // namespace argand::python

namespace pybind11::detail {

// A caster by a pair of functions of the table.
#define ARGAND_PYTHON_CASTER(Type, name, function)                                                            \
  template <>                                                                                                 \
  struct type_caster<Type> {                                                                                  \
    PYBIND11_TYPE_CASTER(Type, const_name(name));                                                             \
    bool load(handle source, bool) { return argand::python::interface().to_##function(source.ptr(), value); } \
    static handle cast(const Type& source, return_value_policy, handle) {                                     \
      return argand::python::given(argand::python::interface().from_##function(source));                      \
    }                                                                                                         \
  };
ARGAND_PYTHON_CASTER(argand::Tensor, "torch.Tensor", tensor)
ARGAND_PYTHON_CASTER(argand::ScalarType, "torch.dtype", dtype)
ARGAND_PYTHON_CASTER(argand::Device, "torch.device", device)
ARGAND_PYTHON_CASTER(argand::Scalar, "Union[bool, int, float, complex]", scalar)
ARGAND_PYTHON_CASTER(argand::Layout, "torch.layout", layout)
ARGAND_PYTHON_CASTER(argand::MemoryFormat, "torch.memory_format", memory_format)
ARGAND_PYTHON_CASTER(argand::Generator, "torch.Generator", generator)
#undef ARGAND_PYTHON_CASTER

// IntArrayRef, TensorList and the like: the caster holds the elements during the call.  As results they are tuples.
template <class T>
struct type_caster<argand::ArrayRef<T>> {
  PYBIND11_TYPE_CASTER(argand::ArrayRef<T>, const_name("Sequence[") + make_caster<T>::name + const_name("]"));
  bool load(handle source, bool convert) {
    if (!PyList_Check(source.ptr()) && !PyTuple_Check(source.ptr())) return false;
    make_caster<std::vector<T>> elements;
    if (!elements.load(source, convert)) return false;
    elements_ = cast_op<std::vector<T>&&>(std::move(elements));
    value = elements_;
    return true;
  }
  static handle cast(argand::ArrayRef<T> source, return_value_policy policy, handle parent) {
    tuple out(source.size());
    for (size_t i = 0; i < source.size(); ++i)
      out[i] = reinterpret_steal<object>(make_caster<T>::cast(source[i], policy, parent));
    return out.release();
  }

 private:
  std::vector<T> elements_;
};

}  // namespace pybind11::detail
