// The arguments and results of ops that libraries define, by their schemas.
#pragma once
#include "argand/library/boxing.h"
#include "argand/library/schema.h"
#include "bindings/object.h"

namespace argand::python {

// The arguments of a call in the order of the schema, with its defaults.  Error that names op and argument for one that
// is missing, unknown or of another type.
Stack bound(const FunctionSchema& schema, const nb::tuple& args, const nb::dict& kwargs);

// Nothing is None, several are a tuple.
nb::object results_of(const FunctionSchema& schema, const Stack& results);

}  // namespace argand::python
