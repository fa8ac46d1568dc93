#include "argand/autograd/saved_variable.h"

#include "argand/exec/invoke.h"

namespace argand::autograd {

SavedVariable::SavedVariable(const Tensor& t, bool is_output) : is_output_(is_output) {
  if (!t.defined()) return;
  data_ = is_output ? exec::alias(t) : t;
  version_ = t._version();
  output_nr_ = t.output_nr();
}

Tensor SavedVariable::unpack(const intrusive_ptr<Node>& owner) const {
  if (!data_.defined()) return {};
  check_saved_version(data_, version_, owner->name());
  if (!is_output_ || !is_differentiable(data_.dtype())) return data_;
  const Tensor t = exec::alias(data_);
  AutogradMeta& meta = autograd_meta(t);
  meta.grad_fn = owner;
  meta.output_nr = output_nr_;
  return t;
}

}  // namespace argand::autograd
