#include "argand/autograd/saved_variable.h"

#include "argand/exec/forward_mode.h"

namespace argand::autograd {

SavedVariable::SavedVariable(const Tensor& t, bool is_output) : is_output_(is_output) {
  if (!t.defined()) return;
  if (const auto& hooks = SavedTensorHooks::current()) {
    packed_.emplace(hooks, t);
    if (!is_output) history_ = gradient_edge(t);
    output_nr_ = t.output_nr();
    return;
  }
  // Stored as a new tensor, because the handle may later be written in place and then lead to the node that keeps this.
  // A leaf that requires grad cannot.
  const bool leaf = t.is_leaf() && t.requires_grad();
  data_ = is_output || !leaf ? exec::alias_with_tangents(t) : t;
  if (!is_output && t.requires_grad() && !leaf) {
    AutogradMeta& meta = autograd_meta(data_);
    meta.grad_fn = t.grad_fn();
    meta.output_nr = t.output_nr();
  }
  version_ = t._version();
  output_nr_ = t.output_nr();
}

void SavedVariable::pack(std::shared_ptr<SavedTensorHooks> hooks) {
  ARGAND_CHECK(GradError, !packed_,
               "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
               "hooks is allowed at a time.");
  ARGAND_CHECK(GradError, data_.defined(), "Calling register_hooks on a saved tensor with value None is forbidden");
  packed_.emplace(std::move(hooks), data_);
  if (!is_output_) history_ = gradient_edge(data_);
  data_ = Tensor();
}

Tensor SavedVariable::unpack(const intrusive_ptr<Node>& owner) const {
  if (packed_) {
    const Tensor t = packed_->unpack();
    if (!is_differentiable(t.dtype())) return t;
    if (is_output_) return owner->with_history(t, output_nr_);
    if (history_.is_valid()) {
      AutogradMeta& meta = autograd_meta(t);
      meta.grad_fn = history_.function;
      meta.output_nr = history_.input_nr;
    }
    return t;
  }
  if (!data_.defined()) return {};
  check_saved_version(data_, version_, *owner);
  if (!is_output_ || !is_differentiable(data_.dtype())) return data_;
  return owner->with_history(data_, output_nr_);
}

}  // namespace argand::autograd
