// What a Python module in C++ asks of argand's own module: the Python objects of tensors and of small values, and the
// exceptions of errors (docs/design/0025-extensions.md).  The two modules share libargand and this table, and nothing
// of the libraries that bind them.
//
// Every function needs the interpreter's lock.  `from_` returns a new reference, or null with Python's error set.
// `to_` returns false, without an error, for an object of another type.
#pragma once
#include <Python.h>

#include "argand/core/generator.h"
#include "argand/core/scalar.h"
#include "argand/core/tensor.h"

namespace argand::python {

struct Interface {
  // The layout of this table.  Functions may be added at its end, with a new number.
  static constexpr uint32_t kVersion = 1;
  static constexpr const char* kCapsule = "argand._C._extension_interface";

  uint32_t version;
  // The usual object of a tensor: one for as long as somebody holds it; None for an undefined tensor.
  PyObject* (*from_tensor)(const Tensor& tensor);
  bool (*to_tensor)(PyObject* object, Tensor& tensor);
  PyObject* (*from_dtype)(ScalarType dtype);
  bool (*to_dtype)(PyObject* object, ScalarType& dtype);  // also takes the types bool, int, float and complex
  PyObject* (*from_device)(const Device& device);
  bool (*to_device)(PyObject* object, Device& device);
  PyObject* (*from_scalar)(const Scalar& scalar);
  bool (*to_scalar)(PyObject* object, Scalar& scalar);  // takes numbers of Python and NumPy, not tensors
  PyObject* (*from_layout)(Layout layout);
  bool (*to_layout)(PyObject* object, Layout& layout);
  PyObject* (*from_memory_format)(MemoryFormat format);
  bool (*to_memory_format)(PyObject* object, MemoryFormat& format);
  PyObject* (*from_generator)(const Generator& generator);
  bool (*to_generator)(PyObject* object, Generator& generator);
  // Sets Python's error from the C++ exception that is being handled.
  void (*set_error)();
};

// The table of the package in this process; null, with Python's ImportError set, if there is none of this version.
inline const Interface* find_interface() {
  static const Interface* found = nullptr;
  if (found) return found;
  const auto* const table = static_cast<const Interface*>(PyCapsule_Import(Interface::kCapsule, 0));
  if (!table) return nullptr;
  if (table->version < Interface::kVersion) {
    PyErr_Format(
        PyExc_ImportError,
        "this extension was built for a newer Argand: it needs version %d of the interface for extensions, and "
        "the package has version %d",
        static_cast<int>(Interface::kVersion), static_cast<int>(table->version));
    return nullptr;
  }
  return found = table;
}

}  // namespace argand::python
