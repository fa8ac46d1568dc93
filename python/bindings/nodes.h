// Nodes of the graph as objects of Python's: what the files about the graph share.
#pragma once
#include <nanobind/stl/string.h>

#include "argand/autograd/function.h"
#include "argand/exec/saved_hooks.h"
#include "bindings/errors.h"
#include "bindings/graph.h"
#include "bindings/tensor_object.h"

namespace argand::python {

// A node has one object for as long as somebody holds it (NodeExtras::front_object).
struct NodeObject {
  intrusive_ptr<autograd::Node> node;
  explicit NodeObject(intrusive_ptr<autograd::Node> n) : node(std::move(n)) {}
  ~NodeObject() { forget(); }
  NodeObject(const NodeObject&) = delete;
  NodeObject& operator=(const NodeObject&) = delete;
  void forget();  // lets go of the node
};

// The node of a Function written in Python.
class PythonNode : public autograd::FunctionNode {
 public:
  virtual nb::object function() const = 0;
  virtual nb::object context_object() const = 0;
  virtual int visit(visitproc visitor, void* arg) const = 0;
};

Tensor as_tensor_or_none(nb::handle value, const char* what);
// GradError, with the name of the hook, if `by`, which it returned, cannot take the place of `gradient`, a tensor or
// None.
void check_replaced(nb::handle gradient, const Tensor& by, nb::handle hook);
std::shared_ptr<autograd::SavedTensorHooks> saved_hooks(nb::object pack, nb::object unpack);

// What tp_traverse of an owner visits: see Note [Cycles through C++].
int visit_node(const autograd::Node& node, visitproc visitor, void* arg);
int visit_hooks(const std::vector<autograd::Node::Hook>& hooks, visitproc visitor, void* arg);

void add_nodes(nb::module_& module);
void add_saved_tensors(nb::module_& module, nb::class_<NodeObject>& node);

}  // namespace argand::python
