// What torch.func needs beside autograd: inputs of transforms, and random numbers of vmap.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_set>

#include "argand/autograd/accumulate.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/slice_draws.h"
#include "argand/exec/slices.h"
#include "bindings/graph.h"
#include "bindings/modules.h"
#include "bindings/tensor_object.h"

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

// The calls of a function by vmap, or by what takes gradients: Note [Writes of slices] of argand/exec/slices.h.
class Slices {
 public:
  Slices(bool gradients, bool made) : gradients_(gradients), made_(made) {}
  void enter() {
    using Kind = exec::SlicesScope::Kind;
    scope_ = std::make_unique<exec::SlicesScope>(made_ ? Kind::kMade : gradients_ ? Kind::kGradients : Kind::kSlices);
  }
  void exit() { scope_.reset(); }
  void mark(const Tensor& t) { scope_->mark(t); }
  bool differs(const Tensor& t) const { return scope_->differs(t); }
  bool made(const Tensor& t) const { return scope_->made(t); }
  void next_slice() { scope_->next_slice(); }
  const exec::SlicesScope* scope() const { return scope_.get(); }
  std::vector<nb::object> written() const {
    std::vector<nb::object> pairs;
    for (const auto& [t, after] : scope_->written())
      pairs.push_back(
          nb::make_tuple(nb::steal(wrap(t)), after.defined() ? nb::object(nb::steal(wrap(after))) : nb::none()));
    return pairs;
  }

 private:
  const bool gradients_, made_;
  std::unique_ptr<exec::SlicesScope> scope_;
};

// Random numbers in the calls of a function: Note [Draws of slices] of argand/exec/slice_draws.h.
class DrawScope {
 public:
  // `mapped` are tensors and the dimensions along which the function gets slices of them.
  DrawScope(const std::string& randomness, const Slices* slices, int64_t count,
            const std::vector<std::pair<Tensor, int64_t>>& mapped)
      : randomness_(kind_of(randomness)), slices_(slices), count_(count) {
    for (const auto& [tensor, dim] : mapped) mapped_.push_back({tensor, dim});
  }
  void enter() {
    draws_ = std::make_unique<exec::SliceDraws>(randomness_, slices_ ? slices_->scope() : nullptr, count_, mapped_);
  }
  void exit() { draws_.reset(); }
  void next_slice() { draws_->next_slice(); }

 private:
  using Randomness = exec::SliceDraws::Randomness;
  static Randomness kind_of(const std::string& name) {
    return name == "error" ? Randomness::kError : name == "same" ? Randomness::kSame : Randomness::kDifferent;
  }
  Randomness randomness_;
  const Slices* slices_;
  int64_t count_;
  std::vector<exec::SliceDraws::Mapped> mapped_;
  std::unique_ptr<exec::SliceDraws> draws_;
};

}  // namespace

void add_transforms(nb::module_& module) {
  module.def("_as_transform_input", [](const Tensor& t) { return nb::steal(wrap(as_input(t))); });
  module.def("_same_history", [](const Tensor& t) { return nb::steal(wrap(same_history(t))); });
  module.def("_end_transform_inputs", end_inputs);
  module.def("_depends_on_others", depends_on_others);
  nb::class_<DrawScope>(module, "_DrawScope")
      .def(nb::init<std::string, const Slices*, int64_t, std::vector<std::pair<Tensor, int64_t>>>(),
           nb::arg("randomness"), nb::arg("slices") = nb::none(), nb::arg("count") = 1,
           nb::arg("mapped") = std::vector<std::pair<Tensor, int64_t>>(), nb::keep_alive<1, 3>())
      .def("__enter__", [](nb::object self) { return nb::cast<DrawScope&>(self).enter(), self; })
      .def("__exit__", [](DrawScope& self, nb::args) { self.exit(); })
      .def("next_slice", &DrawScope::next_slice);
  nb::class_<Slices>(module, "_Slices")
      .def(nb::init<bool, bool>(), nb::arg("gradients") = false, nb::arg("made") = false)
      .def("__enter__", [](nb::object self) { return nb::cast<Slices&>(self).enter(), self; })
      .def("__exit__", [](Slices& self, nb::args) { self.exit(); })
      .def("mark", &Slices::mark)
      .def("differs", &Slices::differs)
      .def("made", &Slices::made)
      .def("next_slice", &Slices::next_slice)
      .def("written", &Slices::written);
}

}  // namespace argand::python
