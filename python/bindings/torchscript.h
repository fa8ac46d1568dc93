// Values of programs of TorchScript, and results of ops that libraries define, as Python's objects.
#pragma once
#include "argand/autograd/ivalue.h"
#include "bindings/object.h"

namespace argand::python {

// ValueError for what is nested too deep.
nb::object to_object(const IValue& value, size_t depth = 0);

}  // namespace argand::python
