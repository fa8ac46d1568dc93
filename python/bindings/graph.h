// Autograd's graph for Python: nodes, backward, hooks, Functions written in Python.
#pragma once
#include "argand/exec/graph.h"
#include "bindings/object.h"

namespace argand::python {

PyObject* wrap(const intrusive_ptr<autograd::Node>& node);  // None for null
void add_graph(nb::module_& module);

}  // namespace argand::python
