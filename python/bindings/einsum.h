// einsum with subscripts in lists, which is no call of its schema.
#pragma once
#include "bindings/call.h"

namespace argand::python {

// Whether the call has the form einsum(x, [0, 1], y, [1, 2], [0, 2]).
bool takes_sublists(const FunctionTable& table, PyObject* const* arguments, size_t num_positional);
// Does what einsum("AB,BC->AC", x, y) does.
PyObject* einsum_of_sublists(const FunctionTable& table, PyObject* const* arguments, size_t num_positional);

// To those who override it, einsum(equation, [a, b]) is einsum(equation, a, b), as PyTorch's.
PyObject* override_einsum(PyObject* self, PyObject* equation, PyObject* operands);

}  // namespace argand::python
