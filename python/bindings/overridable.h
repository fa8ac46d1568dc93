// _C.overridable and _C.overridable_method wrap a function, or a method of Tensor, that is written in Python, so that
// its arguments and modes can override it as a whole (overrides.h).  The wrapper looks like the function that it wraps.
#pragma once
#include "bindings/object.h"

namespace argand::python {

void add_overridable(nb::module_& module);

}  // namespace argand::python
