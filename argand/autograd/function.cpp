#include "argand/autograd/function.h"

#include <algorithm>

#include "argand/base/fork_mutex.h"
#include "argand/base/log.h"
#include "argand/base/permanent_name.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"

#if defined(__GNUC__)
#include <cxxabi.h>

#include <cstdlib>
#endif

namespace argand::autograd {

std::string node_name(const std::type_info& type) {
  std::string name = type.name();
#if defined(__GNUC__)
  int status = 0;
  if (char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status)) {
    name = text;
    std::free(text);
  }
#endif
  return "torch::autograd::CppNode<" + name + ">";
}

AutogradContext::AutogradContext() = default;
AutogradContext::~AutogradContext() = default;

FunctionNode::FunctionNode() { ctx_.node_ = this; }
FunctionNode::~FunctionNode() = default;

static void check_not_freed(bool freed) {
  ARGAND_CHECK(
      GradError, !freed,
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been "
      "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
      "retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
      "tensors "
      "after calling backward.");
}

variable_list AutogradContext::get_saved_variables() const {
  check_not_freed(freed_);
  variable_list out;
  out.reserve(saved_.size());
  for (const SavedVariable& s : saved_) out.push_back(s.unpack(intrusive_ptr<Node>(node_)));
  return out;
}

std::vector<SavedVariable>& FunctionNode::saved() {
  check_not_freed(ctx_.freed_);
  return ctx_.saved_;
}

bool AutogradContext::needs_input_grad(size_t tensor_argument) const {
  ARGAND_CHECK(IndexError, tensor_argument < node_->next_edges().size(), "needs_input_grad: there are ",
               node_->next_edges().size(), " tensor arguments, got index ", tensor_argument);
  return is_needed(node_->next_edges()[tensor_argument]);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> tensor_arguments) const {
  for (const auto& [first, last] : tensor_arguments)
    for (size_t i = first; i < last; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

static bool contains(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& l) { return l.is_same(t); });
}

// Makes later in-place writes to `view`, a result of a Function, an error: they would replace the Function's backward
// by the history of the write.
static void forbid_writes(const Tensor& view, bool several) {
  if (AutogradMeta* const meta = autograd_meta_or_null(view); meta && meta->base.defined())
    meta->creation = several ? CreationMeta::MULTI_OUTPUT_NODE : CreationMeta::IN_CUSTOM_FUNCTION;
}

// A new tensor for `t` that autograd knows to be a view.
static Tensor as_view(const Tensor& t) {
  Tensor out = exec::alias(t);
  mark_view(out, t);
  return out;
}

Tensor FunctionNode::link(const Tensor& output, const variable_list& inputs, size_t num_outputs) {
  const bool dirty = contains(ctx_.dirty_, output), is_input = contains(inputs, output);
  if (contains(ctx_.non_differentiable_, output)) {
    add_input(output);  // counts results with and without a gradient
    return dirty || !is_input ? output : exec::alias(output);
  }
  if (dirty) {
    if (output.is_view()) {
      ARGAND_CHECK(GradError, num_outputs == 1, "If your Function modifies inplace an input that is a view of another ",
                   "Tensor, it cannot return more than that one Tensor: ", name(), " returned ", num_outputs,
                   ". Give it a clone() of the view, or make two Functions of it.");
      // CopySlices replaces the edge of the first argument by that of the base.
      ARGAND_CHECK(GradError, inputs[0].is_same(output), name(),
                   ": a Function that changes a view in place must take it first");
    }
    check_inplace(name().c_str(), output, true);
    add_input(output);
    rebase_history(output, intrusive_ptr<Node>(this));
    return output;
  }
  // An input that is returned unchanged, or a view of one, becomes a new tensor.
  const Tensor result = is_input || output.is_view() ? as_view(output) : output;
  const uint32_t nr = add_input(result);
  if (is_differentiable(result.dtype())) {
    AutogradMeta& meta = autograd_meta(result);
    meta.grad_fn = intrusive_ptr<Node>(this);
    meta.output_nr = nr;
  }
  return result;
}

void FunctionNode::connect(const variable_list& inputs) {
  for (const Tensor& t : inputs) next_edges().push_back(t.defined() ? gradient_edge(t) : Edge{});
}

void FunctionNode::check_saved(const variable_list& inputs, const variable_list& outputs,
                               const variable_list& others) const {
  for (const Tensor& out : outputs) {
    if (!out.defined() || !contains(inputs, out) || contains(ctx_.dirty_, out)) continue;
    ARGAND_CHECK(
        GradError, !contains(ctx_.to_save_, out) && !contains(others, out), name(),
        ": An input that has been returned as-is is saved, too, and setup_context() cannot tell it from the result. "
        "Return a view of the input, x.view_as(x), or write a forward that takes ctx and saves it there.");
  }
}

// The replacement of an input that forward returns unchanged, if nothing is recorded.
static Tensor unrecorded(const Tensor& input) { return input.requires_grad() ? exec::alias(input) : as_view(input); }

void FunctionNode::record(const variable_list& inputs, std::vector<bool> is_tensor, variable_list& outputs,
                          bool records) {
  if (std::erase_if(ctx_.dirty_, [&](const Tensor& t) { return !contains(inputs, t); }) > 0)
    warn(str(name(), ": Only input Tensors should be given to ctx.mark_dirty(). There is no need to give it others."));
  for (const Tensor& t : ctx_.dirty_)
    ARGAND_CHECK(GradError, contains(outputs, t), name(),
                 ": Some elements marked as dirty during the forward method were not returned as output. The inputs "
                 "that are modified inplace must all be outputs of the Function.");
  const auto several = std::count_if(outputs.begin(), outputs.end(), [&](const Tensor& t) {
    return t.defined() && is_differentiable(t.dtype()) && !contains(ctx_.non_differentiable_, t);
  });
  for (const Tensor& t : ctx_.dirty_) t.storage()->bump_version(permanent_name(name()));
  if (records) {
    is_tensor_ = std::move(is_tensor);
    const variable_list before = outputs;
    for (Tensor& out : outputs) {
      kinds_.push_back(!out.defined()                            ? Output::kNoTensor
                       : contains(ctx_.non_differentiable_, out) ? Output::kConstant
                                                                 : Output::kDifferentiable);
      if (out.defined())
        out = link(out, inputs, outputs.size());
      else
        add_input(zeros({}));
    }
    for (const Tensor& t : ctx_.to_save_) {
      // If a result was replaced by its alias above, its history is that of the alias.
      const auto at = std::find_if(before.begin(), before.end(),
                                   [&](const Tensor& b) { return t.defined() && b.defined() && b.is_same(t); });
      const bool is_output = at != before.end() && (!contains(inputs, t) || contains(ctx_.dirty_, t));
      ctx_.saved_.emplace_back(is_output ? outputs[static_cast<size_t>(at - before.begin())] : t, is_output);
    }
  }
  if (!records)
    for (Tensor& out : outputs)
      if (out.defined() && contains(inputs, out) && !contains(ctx_.dirty_, out)) out = unrecorded(out);
  for (const Tensor& out : outputs)
    if (GradMode::is_enabled() && out.defined() && !contains(ctx_.dirty_, out)) forbid_writes(out, several > 1);
  ctx_.to_save_.clear();
  ctx_.dirty_.clear();
  ctx_.non_differentiable_.clear();
}

Grads FunctionNode::apply(Grads grads) {
  const ObjectLock lock(mutex());
  if (ctx_.materialize_grads_) {
    for (size_t i = 0; i < grads.size(); ++i) {
      if (kinds_[i] == Output::kNoTensor || (kinds_[i] == Output::kConstant && !ctx_.materialize_non_diff_)) continue;
      const GradMeta& meta = input_meta(i);
      if (!grads[i].defined()) grads[i] = zeros(meta.sizes, TensorOptions(meta.dtype).device(meta.device));
    }
  }
  variable_list given = backward(std::move(grads));
  while (given.size() > is_tensor_.size() && !given.back().defined()) given.pop_back();
  ARGAND_CHECK(GradError, given.size() == is_tensor_.size(), "function ", name(),
               " returned an incorrect number of gradients (expected ", is_tensor_.size(), ", got ", given.size(), ")");
  Grads out;
  for (size_t i = 0; i < given.size(); ++i) {
    ARGAND_CHECK(GradError, is_tensor_[i] || !given[i].defined(), "function ", name(),
                 " returned a gradient different from None at position ", i + 1,
                 ", but the corresponding forward input was not a Variable");
    if (is_tensor_[i]) out.push_back(std::move(given[i]));
  }
  return out;
}

void FunctionNode::release_variables() {
  const ObjectLock lock(mutex());
  ctx_.freed_ = ctx_.freed_ || !ctx_.saved_.empty();
  ctx_.saved_.clear();
}

}  // namespace argand::autograd
