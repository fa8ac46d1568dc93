// Kernels for ops without a gradient of their own, which read from the schema what is written and what is a view.
#include "argand/base/log.h"
#include "argand/base/permanent_name.h"
#include "argand/exec/invoke.h"
#include "argand/exec/not_implemented.h"
#include "argand/library/library.h"
#include "argand/library/registry.h"
#include "argand/library/schema.h"

namespace argand {

namespace {

using autograd::Node;

// Every tensor of the last `count` values of the stack, and the number of its value among them.
template <class F>
void each_tensor(const Stack& stack, size_t count, const F& f) {
  for (size_t i = 0; i < count; ++i)
    library::each_tensor(stack[stack.size() - count + i], [&](const Tensor& t) { f(i, t); });
}

std::vector<Tensor> tensors(const Stack& stack, size_t count) {
  std::vector<Tensor> out;
  each_tensor(stack, count, [&](size_t, const Tensor& t) { out.push_back(t); });
  return out;
}

bool records(const std::vector<Tensor>& inputs) {
  return GradMode::is_enabled() &&
         std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.requires_grad(); });
}

bool contains(const std::vector<Tensor>& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& l) { return l.is_same(t); });
}

template <class N, class... Arguments>
intrusive_ptr<Node> node_of(const std::vector<Tensor>& inputs, Arguments&&... arguments) {
  intrusive_ptr<Node> node(new N(std::forward<Arguments>(arguments)...));
  for (const Tensor& t : inputs) node->next_edges().push_back(gradient_edge(t));
  return node;
}

void set_history(const Tensor& t, const intrusive_ptr<Node>& node) {
  AutogradMeta& meta = autograd_meta(t);
  meta.grad_fn = node;
  meta.output_nr = node->add_input(t);
  meta.view_version = t._version();
}

bool writes(const Argument& a) { return a.alias_info() && a.alias_info()->is_write; }

// The argument or result that is a view as the schema says: "Tensor(a)".
std::optional<size_t> the_view(const std::vector<Argument>& arguments, const char* what, const OperatorHandle& op) {
  std::optional<size_t> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].alias_info() || arguments[i].alias_info()->is_write) continue;
    ARGAND_CHECK(Error, !out, op.operator_name().str(), ": Expected only a single ", what,
                 " in the operator schema to have a non-write alias annotation (i.e., 'Tensor(a)'). Non-composite "
                 "functions where multiple ",
                 what, "s are aliased aren't supported. Please rewrite your function as a composite function.");
    out = i;
  }
  return out;
}

void autograd_not_implemented(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const size_t num_arguments = schema.arguments().size(), num_returns = schema.returns().size();
  const std::optional<size_t> view = the_view(schema.returns(), "output", op);
  the_view(schema.arguments(), "input", op);
  const std::vector<Tensor> inputs = tensors(*stack, num_arguments);
  const bool recorded = records(inputs), grad_mode = GradMode::is_enabled();
  each_tensor(*stack, num_arguments, [&](size_t i, const Tensor& t) {
    if (writes(schema.arguments()[i])) check_inplace(schema.name().c_str(), t, recorded);
  });
  // Done before the kernel, which may change the inputs' history.
  const auto node = recorded ? node_of<autograd::NotImplemented>(inputs, schema.name()) : nullptr;
  {
    const AutoDispatchBelowAutograd below;
    op.redispatchBoxed(keys & after_autograd_keyset, stack);
  }
  each_tensor(*stack, num_returns, [&](size_t i, const Tensor& t) {
    if (recorded && is_differentiable(t.dtype())) {
      if (!writes(schema.returns()[i])) {
        ARGAND_CHECK(GradError, !contains(inputs, t), schema.name(),
                     ": a result is an argument itself, and the schema does not say so: ", schema.str());
        set_history(t, node);
      } else {
        node->add_input(t);
        autograd::rebase_history(t, node);
      }
    } else if (view == i && grad_mode && t.is_view()) {
      // Made below autograd, where nothing is recorded; but there was nothing to record.
      autograd_meta(t).creation = autograd::CreationMeta::DEFAULT;
    }
  });
}

void inplace_or_view(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const std::optional<size_t> viewed = the_view(schema.arguments(), "input", op);
  const std::optional<size_t> view = the_view(schema.returns(), "output", op);
  ARGAND_CHECK(
      Error, !view || (view == 0U && viewed == 0U), schema.name(),
      ": the fallback can only create view relationships between the first argument and the first result (which "
      "can be a list of tensors). Please change the order of your operator's arguments");
  const size_t num_arguments = schema.arguments().size();
  const Tensor base = view ? (*stack)[stack->size() - num_arguments].toTensor() : Tensor();
  std::vector<std::pair<Tensor, uint32_t>> written;
  each_tensor(*stack, num_arguments, [&](size_t i, const Tensor& t) {
    if (writes(schema.arguments()[i])) written.emplace_back(t, t._version());
  });
  {
    const AutoDispatchBelowADInplaceOrView below;
    op.redispatchBoxed(keys & after_ADInplaceOrView_keyset, stack);
  }
  // Ops that wrote have raised the version; a kernel that wrote through the address has not.
  for (const auto& [t, version] : written)
    if (t._version() == version) t.storage()->bump_version(permanent_name(schema.name()));
  if (view)
    each_tensor(*stack, schema.returns().size(), [&](size_t i, const Tensor& t) {
      if (i == 0 && !t.is_view()) mark_view(t, base);
    });
}

void warn_not_registered(const std::string& op) {
  warn(op,
       ": an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This "
       "may lead to silently incorrect behavior. If your operator is differentiable, please ensure you have registered "
       "an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, "
       "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or to squash this warning, "
       "please register torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.");
}

// Warns, and passes no gradient on.
class WarnNotImplemented final : public Node {
 public:
  explicit WarnNotImplemented(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "WarnNotImplemented"; }
  Grads apply(Grads) override {
    warn_not_registered(op_);
    return Grads(next_edges().size());
  }

 private:
  std::string op_;
};

void not_registered(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const std::vector<Tensor> inputs = tensors(*stack, schema.arguments().size());
  const std::string name = schema.name();
  const auto node = node_of<WarnNotImplemented>(inputs, name);
  op.redispatchBoxed(keys & after_autograd_keyset, stack);
  each_tensor(*stack, schema.returns().size(), [&](size_t i, const Tensor& t) {
    if (!is_differentiable(t.dtype()) || contains(inputs, t) || writes(schema.returns()[i])) return;
    if (t.requires_grad())
      t.register_hook([name](const Tensor& g) {
        warn_not_registered(name);
        return g;
      });
    else
      set_history(t, node);
  });
}

}  // namespace

const KernelFunction& library::autograd_not_registered() {
  static const KernelFunction kernel = KernelFunction::from_boxed(&not_registered);
  return kernel;
}

CppFunction autograd::autogradNotImplementedFallback() {
  return CppFunction::makeFromBoxedFunction<&autograd_not_implemented>();
}

CppFunction autograd::autogradNotImplementedInplaceOrViewFallback() {
  return CppFunction::makeFromBoxedFunction<&inplace_or_view>();
}

}  // namespace argand
