// __torch_function__: classes, and modes, that take the place of functions they are arguments of.
//
// A function looks for overrides among its arguments before it reads them.  Types that do not override anything are
// known by their address, so that a usual call costs a comparison for each argument.
#pragma once
#include "bindings/object.h"

namespace argand::python {

// Whether an argument (or an element of a list among them) overrides functions, or a mode is on.
bool is_overridden(PyObject* const* arguments, size_t n);
// The result of `function(*arguments, **keywords)` by those overrides; arguments as for vectorcall.
PyObject* call_override(PyObject* function, PyObject* const* arguments, size_t num_positional, PyObject* keywords);
// The same for Tensor's method `name`, with one argument or, if it is not null, two.
PyObject* call_override(const char* name, PyObject* self, PyObject* other = nullptr);
// The same for an operator: Tensor's method `name`, and `reflected` (unless null) with the arguments exchanged where
// the first is no tensor, or where nobody knows what to make of `name`.  NotImplemented if all handlers return that.
PyObject* call_override(const char* name, const char* reflected, PyObject* a, PyObject* b);
// The same for an attribute of Tensor that is read, or set if there is a value.
PyObject* override_attribute(const char* name, PyObject* self, PyObject* value);

void add_overrides(nb::module_& module);

}  // namespace argand::python
