// Arguments of ops (argand/exec/argument_value.h) as Python's objects.
#pragma once
#include "argand/exec/argument_value.h"
#include "bindings/object.h"

namespace argand::python {

// A wrapped number is a number.
nb::object to_object(const Tensor& t);
// None for what is absent, lists for lists, a dict of those that were given for TensorOptions.
nb::object to_object(const ArgumentValue& value);

}  // namespace argand::python
