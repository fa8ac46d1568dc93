#include "argand/autograd/accumulate.h"

#include "argand/exec/copy.h"
#include "argand/exec/dispatch_hooks.h"
#include "argand/exec/invoke.h"
#include "argand/exec/node_hooks.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {

AccumulateGrad::AccumulateGrad(Tensor leaf) : leaf_(std::move(leaf)) {
  sequence_nr_ = UINT64_MAX;  // a leaf's gradient is final before anything else needs it
  add_input(leaf_);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta* meta = leaf_.defined() ? autograd_meta_or_null(leaf_) : nullptr;
  if (!meta) return;
  const std::lock_guard lock(meta->mutex);
  if (meta->grad_accumulator == this) meta->grad_accumulator = nullptr;
}

// Puts `gradient`, which has so many owners if it is nobody else's, into .grad; returns the hooks to call then.
static std::vector<Node::Hook> add_to_grad(const Tensor& t, Tensor gradient, size_t owners) {
  AutogradMeta& meta = autograd_meta(t);
  const std::lock_guard lock(meta.mutex);
  Tensor& grad = meta.grad();
  if (!grad.defined()) {
    // A gradient that is nobody else's, and laid out as the tensor, becomes .grad without a copy.
    const bool takes_over = !GradMode::is_enabled() && gradient.use_count() == owners &&
                            gradient.storage().use_count() == 1 && gradient.strides() == t.strides();
    if (takes_over) {
      grad = gradient.requires_grad() ? exec::alias(gradient) : std::move(gradient);
    } else if (GradMode::is_enabled() || exec::DispatchHooks::intercepts(gradient.impl())) {
      grad = gradient.clone();
    } else {
      const NoGradGuard no_grad;
      grad =
          exec::dense_clone(gradient, gradient.dtype(), t.is_non_overlapping_and_dense() ? Dims(t.strides()) : Dims());
    }
  } else if (GradMode::is_enabled()) {
    grad = grad + gradient;
  } else {
    grad.add_(gradient);
  }
  std::vector<Node::Hook> after;
  for (const Node::Hook& h : meta.leaf_hooks)
    if (h.input_nr == kAfterAccumulation) after.push_back(h);
  return after;
}

void accumulate_grad(const Tensor& t, Tensor gradient) {
  for (const Node::Hook& h : add_to_grad(t, std::move(gradient), 1)) h.call(t);
}

Grads AccumulateGrad::apply(Grads grads) {
  if (!grads[0].defined()) return {};
  // A hook on this node is given the tensor that became .grad, as in PyTorch; then the list `grads` owns it, too.
  const bool seen = !hooks_after(*this).empty();
  for (const Node::Hook& h : add_to_grad(leaf_, std::move(grads[0]), seen ? 2 : 1)) h.call(leaf_);
  return {};
}

}  // namespace argand::autograd

namespace argand {

autograd::Edge gradient_edge(const Tensor& t) {
  if (auto fn = t.grad_fn()) return {std::move(fn), t.output_nr()};
  AutogradMeta* meta = autograd_meta_or_null(t);
  if (!meta || !meta->requires_grad) return {};
  const std::lock_guard lock(meta->mutex);
  auto node = intrusive_ptr<autograd::Node>::if_alive(meta->grad_accumulator);
  if (!node) {
    node = intrusive_ptr<autograd::Node>(new autograd::AccumulateGrad(t));
    for (const autograd::Node::Hook& h : meta->leaf_hooks)
      if (h.input_nr != autograd::kAfterAccumulation) node->add_hook(h);
    meta->grad_accumulator = node.get();
  }
  return {std::move(node), 0};
}

}  // namespace argand
