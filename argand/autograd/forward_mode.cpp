// How calls give tangents: the choke point's part of forward mode (exec/forward_mode.h).
//
// Note [Tangents of an op]
// The tangent of a result is J t, where t are tangents of the arguments and J is the op's Jacobian.  It follows from
// the definition, by the first of these that applies:
//   - a rule that is written (forward_rules.cpp);
//   - a real pointwise op has a diagonal J, so its gradient, given t instead of the gradient of the result, is J t;
//   - an op that is linear in an argument is called with the tangent in the place of that argument.  An op is linear in
//     the arguments that their own gradients don't read, if no gradient reads a result;
//   - for all others two backward passes through this one op: u -> J^T u is linear, so the gradient of (J^T u, t) by u
//     is J t.  This is right for every op whose gradient can be differentiated.
// All are made of ops, so that they are recorded, and have tangents for levels further out.
#include "argand/exec/forward_mode.h"

#include <algorithm>
#include <string_view>

#include "argand/autograd/engine.h"
#include "argand/autograd/forward_rules.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/call_facts.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "argand/exec/transform_scope.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::exec {
namespace {

using autograd::Edge;
using autograd::Node;
using autograd::OpNode;

// ---- J^T of a single op

// The end of such a pass: a gradient arrives at an argument that has a tangent, or at u.
class TangentEdge final : public Node {
 public:
  explicit TangentEdge(const Tensor& t) { add_input(t); }
  std::string name() const override { return "Tangent"; }
  Grads apply(Grads) override { return {}; }
};

// The same tensor with such an edge for its history.
Tensor on_edge(const Tensor& t) {
  Tensor out = alias_with_tangents(t);
  AutogradMeta& meta = autograd_meta(out);
  meta.grad_fn = intrusive_ptr<Node>(new TangentEdge(out));
  meta.output_nr = 0;
  return out;
}

// Stands for the node that the call recorded, if it did: what a gradient reads of the results has their history.
class Results final : public Node {
 public:
  explicit Results(std::span<const Tensor> results) : results_(results) {}
  std::string name() const override { return "Results"; }
  Grads apply(Grads) override { return {}; }
  Tensor with_history(const Tensor&, uint32_t nr) override { return results_[nr]; }

 private:
  std::span<const Tensor> results_;
};

class Wanted final : public autograd::WantedEdges {
 public:
  explicit Wanted(std::vector<Edge> edges) : edges_(std::move(edges)) {}
  bool wants(const Edge& edge) const override {
    return std::ranges::any_of(
        edges_, [&](const Edge& e) { return e.function == edge.function && e.input_nr == edge.input_nr; });
  }

 private:
  std::vector<Edge> edges_;
};

constexpr std::string_view kNoDerivative = "the op has no derivative with respect to an argument that has a tangent";

[[noreturn]] void refuse(const OpInfo& op, std::string_view why) {
  ARGAND_THROW(NotImplementedError, "Trying to use forward AD with ", op.name,
               " that does not support it because it has not been implemented yet: ", why);
}

Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

using Arguments = std::shared_ptr<void>;

Arguments copy_of(const OpInfo& op, const void* args) {
  const CallFacts* const facts = call_facts(op);
  if (!facts) refuse(op, "it is not an op of the library");
  return facts->copy(args);
}

// A call whose results are known, for one level.
class Call {
 public:
  // `args` have the values that the call read; `results` have their history and the tangents for levels further out.
  Call(const OpInfo& op, const Arguments& args, std::vector<Tensor> tangents, std::span<const Tensor> results)
      : op_(op), facts_(*call_facts(op)), args_(args.get()), tangents_(std::move(tangents)), results_(results) {
    op.args.tensors(args_, slots_);
  }

  // Undefined where they are zero.
  std::vector<Tensor> tangents() {
    if (const auto rule = autograd::forward_rule(op_)) return {rule(args_, tangents_, results_[0])};
    for (size_t i = 0; i < tangents_.size(); ++i)
      if (tangents_[i].defined() && op_.unimplemented_gradients >> i & 1) refuse(op_, kNoDerivative);
    if (op_.inplace_only) return {written()};
    try {
      if (is_diagonal()) return {diagonal()};
      return is_linear() ? linear() : transposed_twice();
    } catch (const NotImplementedError& e) {
      refuse(op_, e.what());
    }
  }

  // Whether the tangents depend on the values of arguments that share memory with `t`.
  bool reads(const Tensor& t) {
    if (op_.inplace_only) return false;
    for (size_t i = 0; i < tangents_.size(); ++i)
      for (size_t j = 0; tangents_[i].defined() && j < slots_.size(); ++j)
        if (slots_[j].tensor->defined() && slots_[j].tensor->is_alias_of(t) && reads(i, j)) return true;
    return false;
  }

 private:
  bool reads(size_t i, size_t j) { return op_.gradient_reads[slots_[i].argument] >> slots_[j].argument & 1; }

  // ---- linear ops

  bool is_linear() {
    if (!facts_.only_linear || op_.saved_results || op_.random) return false;
    if (op_.num_outputs > 1 && op_.kind != OpKind::kView) return false;
    for (size_t i = 0; i < tangents_.size(); ++i) {
      if (!tangents_[i].defined()) continue;
      const bool own = facts_.own_gradients >> slots_[i].argument & 1;
      if (reads(i, i) || !(own || facts_.is_one_gradient)) return false;
      // A function that gives all gradients at once may read argument j for this gradient or for another one.
      for (size_t j = 0; !own && j < slots_.size(); ++j)
        if (slots_[j].tensor->defined() && is_differentiable(slots_[j].tensor->dtype()) && reads(i, j)) return false;
    }
    return true;
  }

  // The tangents of arguments whose gradients read no other argument that has one go through the op at once.
  std::vector<Tensor> linear() {
    std::vector<bool> together(tangents_.size()), one(tangents_.size());
    for (size_t i = 0; i < tangents_.size(); ++i) {
      if (!tangents_[i].defined()) continue;
      together[i] = true;
      for (size_t j = 0; j < tangents_.size(); ++j)
        if (tangents_[j].defined() && reads(i, j)) together[i] = false;
    }
    std::vector<Tensor> out;
    if (std::ranges::any_of(together, [](bool t) { return t; })) out = with_tangents(together);
    for (size_t i = 0; i < tangents_.size(); ++i) {
      if (!tangents_[i].defined() || together[i]) continue;
      one.assign(tangents_.size(), false);
      one[i] = true;
      const std::vector<Tensor> more = with_tangents(one);
      out.resize(more.size());
      for (size_t k = 0; k < more.size(); ++k) out[k] = sum_of(out[k], more[k]);
    }
    return out;
  }

  // Calls the op with some tangents.  The other arguments keep their values where one of these is multiplied by them,
  // and are zero otherwise.
  std::vector<Tensor> with_tangents(const std::vector<bool>& which) {
    const Arguments call = copy_of(op_, args_);
    TensorSlots slots;
    op_.args.tensors(call.get(), slots);
    for (size_t j = 0; j < slots.size(); ++j) {
      if (which[j]) {
        *slots[j].tensor = tangents_[j];
      } else if (slots[j].tensor->defined()) {
        bool factor = false;
        for (size_t i = 0; i < which.size(); ++i) factor |= which[i] && reads(i, j);
        if (!factor) *slots[j].tensor = zero_for(*slots[j].tensor, slots[j].argument);
      }
    }
    std::vector<Tensor> out(results_.size());
    invoke(op_, call.get(), out);
    for (Tensor& t : out)
      if (op_.kind != OpKind::kView && shares_memory(t)) t = t.clone();
    return out;
  }

  Tensor zero_for(const Tensor& t, int argument) const {
    if (t.impl().wrapped_number) return wrapped_number(zero_of(t.dtype()));
    if (std::string_view(op_.signature.arguments[static_cast<size_t>(argument)].type) == "Tensor?") return {};
    if (DispatchHooks::intercepts(t.impl())) return zeros_like(t);
    return zeros({}, t.options()).expand(t.sizes());
  }
  static Scalar zero_of(ScalarType dtype) {
    if (is_complex(dtype)) return Scalar(std::complex<double>(0));
    if (is_floating_point(dtype)) return Scalar(0.0);
    return dtype == kBool ? Scalar(false) : Scalar(0);
  }
  bool shares_memory(const Tensor& t) const {
    return std::ranges::any_of(tangents_, [&](const Tensor& of) { return of.defined() && t.is_alias_of(of); });
  }

  // ---- ops that write a tensor and read nothing of it: copy_, fill_

  Tensor written() {
    const TransformScope::Pause writes;
    const Tensor out = zeros_like(results_[0]);
    const Arguments call = copy_of(op_, args_);
    TensorSlots slots;
    op_.args.tensors(call.get(), slots);
    bool any = false;
    for (size_t j = 1; j < slots.size(); ++j) {
      any |= tangents_[j].defined();
      *slots[j].tensor = tangents_[j];
    }
    *slots[0].tensor = out;
    if (any) invoke_inplace(op_, call.get(), out);
    return out;
  }

  // ---- by the gradient

  // A node of the same call, whose gradients are those of the arguments that have tangents.
  intrusive_ptr<OpNode> node() {
    const intrusive_ptr<OpNode> node = op_.make_node(copy_of(op_, args_).get());
    TensorSlots slots;
    node->tensors(slots);
    for (size_t i = 0; i < slots.size(); ++i) {
      Tensor& t = *slots[i].tensor;
      if (!t.defined()) continue;
      if (t.is_inference()) t = t.clone();  // no graph keeps the tensor itself
      if (tangents_[i].defined() && !gradient_edge(t).is_valid()) t = on_edge(t);
    }
    std::vector<Tensor> outs;
    for (const Tensor& r : results_) outs.push_back(r.defined() ? alias_with_tangents(r) : r);
    node->record(op_, outs, nullptr);
    node->set_owner(&owner_);
    return node;
  }

  bool is_diagonal() {
    if (op_.kind != OpKind::kPointwise || !is_floating_point(results_[0].dtype())) return false;
    for (size_t i = 0; i < tangents_.size(); ++i)
      if (tangents_[i].defined() && tangents_[i].is_complex()) return false;
    return true;
  }

  Tensor diagonal() {
    std::optional<InferenceMode> no_inference;
    if (InferenceMode::is_enabled()) no_inference.emplace(false);
    const intrusive_ptr<OpNode> node = this->node();
    const Tensor& result = results_[0];
    Tensor sum;
    for (size_t i = 0; i < tangents_.size(); ++i) {
      if (!tangents_[i].defined()) continue;
      const Wanted wanted({node->next_edges()[i]});
      const autograd::WantedEdges::Scope only(&wanted);
      const Grads parts = node->apply({tangents_[i].expand(result.sizes()).to(result.dtype())});
      if (!parts[i].defined()) continue;
      Tensor part = parts[i].to(result.dtype());
      if (part.sizes() != result.sizes()) part = part.expand(result.sizes());
      sum = sum_of(sum, part);
    }
    return sum.defined() && shares_memory(sum) ? sum.clone() : sum;
  }

  std::vector<Tensor> transposed_twice() {
    bool history = false;
    for (size_t i = 0; i < tangents_.size(); ++i)
      history |= (tangents_[i].defined() && tangents_[i].requires_grad()) ||
                 (slots_[i].tensor->defined() && slots_[i].tensor->requires_grad());
    history &= GradMode::is_enabled();
    std::vector<Tensor> u(results_.size()), back, along, vectors;
    {
      const InferenceMode no_inference(false);
      const EnableGradGuard on;
      const intrusive_ptr<OpNode> node = this->node();
      for (size_t k = 0; k < u.size(); ++k) {
        if (!results_[k].defined() || !is_differentiable(results_[k].dtype()) || (op_.constant_results >> k & 1))
          continue;
        u[k] = on_edge(zeros_like(results_[k]));
        vectors.push_back(u[k]);
      }
      std::vector<Edge> edges;
      for (size_t i = 0; i < tangents_.size(); ++i)
        if (tangents_[i].defined()) edges.push_back(node->next_edges()[i]);
      const Wanted wanted(std::move(edges));
      const autograd::WantedEdges::Scope only(&wanted);
      const Grads gradients = node->apply(u);
      for (size_t i = 0; i < tangents_.size(); ++i) {
        if (!tangents_[i].defined() || !gradients[i].defined() || !gradients[i].requires_grad()) continue;
        back.push_back(gradients[i]);
        along.push_back(tangents_[i].to(gradients[i].dtype()).expand(gradients[i].sizes()));
      }
    }
    std::vector<Tensor> out(results_.size());
    if (back.empty()) return out;
    const Grads found = autograd::grad(back, vectors, along, /*retain_graph=*/true, history, /*allow_unused=*/true);
    for (size_t k = 0, next = 0; k < u.size(); ++k)
      if (u[k].defined()) out[k] = found[next++];
    return out;
  }

  const OpInfo& op_;
  const CallFacts& facts_;
  void* const args_;
  std::vector<Tensor> tangents_;
  const std::span<const Tensor> results_;
  TensorSlots slots_;
  Results owner_{results_};
};

// ---- the levels of a call

// The tangents that the tensors of a call have for one level.
struct OfLevel {
  intrusive_ptr<ForwardLevel> level;
  std::vector<Tensor> tangents;
};

// For each level for which one of the tensors has a tangent, the outermost first.  None if a transform further in takes
// the call: a tensor that stands for slices of an inner vmap.
std::vector<OfLevel> levels_of(TensorSlots& slots) {
  std::vector<OfLevel> out;
  for (const auto& level : ForwardMode::active()) {
    OfLevel found{level, {}};
    bool any = false;
    for (const TensorSlot& s : slots) {
      found.tangents.push_back(tangent_of(*s.tensor, *level));
      any |= found.tangents.back().defined();
    }
    if (any) out.push_back(std::move(found));
  }
  if (out.empty()) return out;
  Interceptor* const interceptor = DispatchHooks::interceptor.load(std::memory_order_acquire);
  for (const TensorSlot& s : slots)
    if (s.tensor->defined() && DispatchHooks::intercepts(s.tensor->impl()) &&
        interceptor->depth(*s.tensor) > out.back().level->depth())
      return {};
  return out;
}

// The active levels but for those.
ForwardLevels without(const std::vector<OfLevel>& those) {
  ForwardLevels out;
  for (const auto& level : ForwardMode::active())
    if (std::ranges::none_of(those, [&](const OfLevel& l) { return l.level == level; })) out.push_back(level);
  return out;
}

bool has_value(const OpInfo& op, std::span<const Tensor> outs, size_t k) {
  return outs[k].defined() && is_differentiable(outs[k].dtype()) && !(op.constant_results >> k & 1);
}

// A tangent with the sizes and the dtype of a result.
Tensor fitting(Tensor tangent, const Tensor& result) {
  if (!tangent.defined()) return zeros_like(result);
  if (tangent.dtype() != result.dtype()) tangent = tangent.to(result.dtype());
  return tangent.sizes() == result.sizes() ? tangent : tangent.expand(result.sizes());
}

}  // namespace

bool is_tangent_edge(const Edge& edge) { return dynamic_cast<const TangentEdge*>(edge.function.get()) != nullptr; }

bool has_tangents(TensorSlots& slots) { return DispatchHooks::tangents_travel() && !levels_of(slots).empty(); }

bool forward_plain(const OpInfo& op, void* args, std::span<Tensor> outs) {
  if (!op.differentiable) return false;
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (levels_of(slots).empty()) return false;
  const AutocastScope autocast(op, args);
  const std::vector<OfLevel> levels = levels_of(slots);
  const Arguments of_call = copy_of(op, args);
  const KeptResults kept;
  {
    const ForwardMode::Scope others(without(levels), true);
    invoke(op, args, outs);
  }
  bool any = false;
  for (size_t k = 0; k < outs.size(); ++k) any |= has_value(op, outs, k);
  if (!any) return true;
  for (const OfLevel& l : levels) {
    const ForwardMode::Scope outside(*l.level);
    const std::vector<Tensor> tangents = Call(op, of_call, l.tangents, outs).tangents();
    for (size_t k = 0; k < tangents.size(); ++k)
      if (has_value(op, outs, k)) set_tangent(outs[k], *l.level, fitting(tangents[k], outs[k]));
  }
  kept.share();
  return true;
}

bool forward_inplace(const OpInfo& op, void* args, const Tensor& given) {
  const Tensor self = given;  // the caller's handle may be inside args
  if (!is_differentiable(self.dtype())) return false;
  TensorSlots slots;
  op.args.tensors(args, slots);
  const std::vector<OfLevel> levels = levels_of(slots);
  if (levels.empty()) return false;
  const Arguments of_call = copy_of(op, args);
  const bool keeps = std::ranges::any_of(levels, [&](const OfLevel& l) {
    return Call(op, of_call, l.tangents, {&self, 1}).reads(self);
  });
  if (keeps) {  // the tangents depend on the values before the write
    TensorSlots read;
    op.args.tensors(of_call.get(), read);
    for (const TensorSlot& s : read)
      if (s.tensor->defined() && s.tensor->is_alias_of(self)) *s.tensor = s.tensor->clone();
  }
  const KeptResults kept;
  {
    const ForwardMode::Scope others(without(levels), true);
    invoke_inplace(op, args, self);
  }
  for (const OfLevel& l : levels) {
    const ForwardMode::Scope outside(*l.level);
    std::vector<Tensor> tangents, given = l.tangents;
    // Recorded calls may keep the tangent, which is about to be written.
    if (!op.inplace_only && GradMode::is_enabled() && given[0].defined()) given[0] = given[0].clone();
    if (op.differentiable) tangents = Call(op, of_call, std::move(given), {&self, 1}).tangents();
    if (!op.differentiable && !l.tangents[0].defined()) continue;
    set_tangent(self, *l.level, fitting(tangents.empty() ? Tensor() : tangents[0], self), true);
  }
  kept.share();
  return true;
}

bool forward_call(const OpInfo& op, void* args, std::vector<Tensor>& results) {
  if (op.kind == OpKind::kComposite) return false;
  if (!op.inplace_only) {
    results.resize(static_cast<size_t>(op.num_outputs));
    if (forward_plain(op, args, results)) return true;
    results.clear();
    return false;
  }
  TensorSlots slots;
  op.args.tensors(args, slots);
  const Tensor self = *slots[0].tensor;
  if (!forward_inplace(op, args, self)) return false;
  results.push_back(self);
  return true;
}

void check_forward_out(const OpInfo& op, void* args, std::span<const Tensor> outs) {
  if (!op.differentiable) return;
  TensorSlots slots;
  op.args.tensors(args, slots);
  bool any = !levels_of(slots).empty();
  for (const auto& level : ForwardMode::active())
    any |= std::ranges::any_of(outs, [&](const Tensor& t) { return tangent_of(t, *level).defined(); });
  ARGAND_CHECK(NotImplementedError, !any, "Trying to use forward AD with ", op.name,
               "_out that does not support it because it is an out= function");
}

}  // namespace argand::exec
