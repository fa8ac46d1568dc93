// Trees of data as Python's objects, and back.
#pragma once
#include "argand/io/value.h"
#include "bindings/object.h"

namespace argand::python {

// An object that is reached twice is one object.
nb::object to_python(const io::Value& value);
// ValueError that names the type of what is no data.
io::Value from_python(nb::handle object);

}  // namespace argand::python
