// The autograd graph for Python: nodes, backward, hooks, Functions written in Python.
#pragma once
#include "argand/exec/graph.h"
#include "bindings/object.h"

namespace argand::python {

PyObject* wrap(const intrusive_ptr<autograd::Node>& node);  // None for null

// Note [Cycles through C++]
// A hook or a Function's context may hold the tensor that owns it: y -> TensorImpl -> grad_fn -> context -> y. Python's
// collector finds such a cycle if tp_traverse of y visits the Python objects at the end of the C++ part.  It may visit
// only those that live exactly as long as y: each owner in between must be the only one, else the collector would free
// objects that C++ still uses.  Objects that two tensors own together are not found: hooks of a result that other
// results were computed from, while both are in one cycle.
// Nothing is visited while another thread runs an op without the interpreter's lock, as it might change what is read
// here.
//
// Visits what only `tensor`, the handle of a Python object, owns: functions of hooks, its Function's context.
int visit_owned(const Tensor& tensor, visitproc visitor, void* arg);

void add_graph(nb::module_& module);

}  // namespace argand::python
