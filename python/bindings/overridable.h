// _C.overridable and _C.overridable_method: a function, and a method of Tensor, that is written in Python and asks its
// arguments, and modes, whether they override it (overrides.h), as a whole.  It looks like the function that it wraps.
#pragma once
#include "bindings/object.h"

namespace argand::python {

void add_overridable(nb::module_& module);

}  // namespace argand::python
