// What torch.func needs beside autograd: inputs of transforms, and random numbers of vmap.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_set>

#include "argand/autograd/accumulate.h"
#include "argand/core/no_draws.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/transform_scope.h"
#include "bindings/graph.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"
#include "bindings/with_statement.h"

namespace argand::python {
namespace {

// Note [Inputs of transforms]
// A transform (grad, vjp, jacrev, ...) differentiates its function by tensors whose history ends at such a node: not at
// a leaf, so that nothing is added to a .grad, and so that one transform within another can tell its own inputs from
// what the outer one, or the program, wants gradients of.  Results of a transform keep their history if it leads to
// such a thing; after the transform its inputs are none any more.
class TransformInput final : public autograd::Node {
 public:
  std::string name() const override { return "TransformInput"; }
  Grads apply(Grads) override { return {}; }
  bool active = true;
};

Tensor as_input(const Tensor& t) {
  Tensor out = exec::alias_with_tangents(t);
  const intrusive_ptr<autograd::Node> node(new TransformInput);
  AutogradMeta& meta = autograd_meta(out);
  meta.output_nr = node->add_input(out);
  meta.grad_fn = node;
  return out;
}

// The same memory and history under a tensor of its own, so that what a function writes in place is part of that one's
// history, and the input stays what derivatives are taken by.
Tensor same_history(const Tensor& t) {
  Tensor out = exec::alias_with_tangents(t);
  AutogradMeta& meta = autograd_meta(out);
  meta.grad_fn = t.grad_fn();
  meta.output_nr = autograd_meta(t).output_nr;
  return out;
}

TransformInput* input_node(const Tensor& t) { return dynamic_cast<TransformInput*>(t.grad_fn().get()); }

void end_inputs(const std::vector<Tensor>& inputs) {
  for (const Tensor& t : inputs)
    if (TransformInput* const node = input_node(t)) node->active = false;
}

// Whether the history of `outputs` leads to a leaf, or to an input of a transform that is not among `inputs`.
bool depends_on_others(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  std::unordered_set<const autograd::Node*> seen;
  // An input that is a view of what has a history already leads there.
  for (const Tensor& t : inputs)
    if (const TransformInput* const own = input_node(t)) seen.insert(own);
  std::vector<const autograd::Node*> waiting;
  const auto visit = [&](const autograd::Edge& edge) {
    if (edge.is_valid() && seen.insert(edge.function.get()).second) waiting.push_back(edge.function.get());
  };
  // Held for as long as they are looked at: the history of a view may be made when it is asked for.
  std::vector<autograd::Edge> roots;
  for (const Tensor& t : outputs) roots.push_back(gradient_edge(t));
  for (const autograd::Edge& root : roots) visit(root);
  while (!waiting.empty()) {
    const autograd::Node* const node = waiting.back();
    waiting.pop_back();
    if (dynamic_cast<const autograd::AccumulateGrad*>(node)) return true;
    const auto* const input = dynamic_cast<const TransformInput*>(node);
    if (input && input->active) return true;
    for (const autograd::Edge& edge : node->next_edges()) visit(edge);
  }
  return false;
}

}  // namespace

void add_transforms(nb::module_& module) {
  module.def("_as_transform_input", [](const Tensor& t) { return nb::steal(wrap(as_input(t))); });
  module.def("_same_history", [](const Tensor& t) { return nb::steal(wrap(same_history(t))); });
  module.def("_end_transform_inputs", end_inputs);
  module.def("_depends_on_others", depends_on_others);
  // A block in which no random numbers may be drawn.
  using NoDraws = WithStatement<NoDrawsGuard>;
  with_statement<NoDraws>(module, "_NoDraws").def(nb::init<>());
  // A transform's call of its function: argand/exec/transform_scope.h.
  using Kind = exec::TransformScope::Kind;
  using Transform = WithStatement<exec::TransformScope, Kind>;
  with_statement<Transform>(module, "_TransformScope")
      .def(
          "__init__",
          [](Transform* self, bool gradients) { new (self) Transform(gradients ? Kind::kGradients : Kind::kMade); },
          nb::kw_only(), nb::arg("gradients"))
      .def("mark", [](Transform& self, const Tensor& t) { (*self).mark(t); })
      .def("made", [](Transform& self, const Tensor& t) { return (*self).made(t); });
}

}  // namespace argand::python
