// The small values of the API as objects: dtypes, devices, layouts, memory formats, sizes, generators.
#pragma once
#include "bindings/object.h"

namespace argand::python {

extern PyTypeObject* dtype_type;
extern PyTypeObject* device_type;
extern PyTypeObject* layout_type;
extern PyTypeObject* memory_format_type;
extern PyTypeObject* generator_type;
extern PyTypeObject* size_type;

// argand.float32, ...: one object for each, so that `is` compares them.  Borrowed.
PyObject* dtype_object(ScalarType type);
PyObject* wrap(ScalarType type);
PyObject* wrap(const Device& device);
PyObject* wrap_size(IntArrayRef sizes);

// A dtype or one of Python's types bool, int, float and complex.  NotImplementedError for one of PyTorch's that no op
// takes.
std::optional<ScalarType> as_dtype(PyObject* object);
// A device, "cuda:1", or the index of a CUDA device; nothing for an object of another type, ValueError for other text.
std::optional<Device> as_device(PyObject* object);

PyObject* strided_layout();           // argand.strided, borrowed
void check_layout(PyObject* layout);  // NotImplementedError for any other

void add_constants(nb::module_& module);

}  // namespace argand::python
