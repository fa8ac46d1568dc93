#include "argand/exec/offer.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "argand/exec/autocast_scope.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/graph.h"
#include "argand/exec/invoke.h"
#include "argand/exec/invoke_parts.h"

namespace argand::exec {
namespace {

using Form = OfferedCall::Form;

bool is_wanted(TensorSlots& slots, std::span<const Tensor> outs) {
  if ((DispatchHooks::state & DispatchHooks::kModes) != 0 || DispatchHooks::all.load(std::memory_order_relaxed))
    return true;
  const auto intercepts = [](const Tensor& t) { return t.defined() && DispatchHooks::intercepts(t.impl()); };
  return std::any_of(slots.begin(), slots.end(), [&](const TensorSlot& s) { return intercepts(*s.tensor); }) ||
         std::ranges::any_of(outs, intercepts);
}

bool offer(const OfferedCall& call, std::vector<Tensor>& results) {
  const DispatchStateGuard below(DispatchHooks::kBelowAutograd);
  return DispatchHooks::interceptor.load(std::memory_order_acquire)->offer(call, results);
}

void check_number(const OpInfo& op, size_t expected, size_t got) {
  ARGAND_CHECK(ValueError, got == expected, op.name, ": whoever intercepted it gave ", got, " results, expected ",
               expected);
}

// A result that becomes part of the graph must be a new tensor: an interceptor may return an argument, or a tensor that
// it made outside of the call.
void make_new(TensorSlots& slots, Tensor& out) {
  const bool given =
      std::any_of(slots.begin(), slots.end(), [&](const TensorSlot& s) { return s.tensor->is_same(out); });
  if (given || autograd_meta_or_null(out)) out = alias(out);
}

template <class... T>
void store_tuple(std::vector<Tensor>& results, void* result) {
  auto& out = *static_cast<std::tuple<T...>*>(result);
  size_t i = 0;
  std::apply([&](auto&... part) { ((part = std::move(results[i++])), ...); }, out);
}

// Stores the results in `result`, whose type follows from the schema.
void store(const OpInfo& op, std::vector<Tensor>& results, void* result) {
  const std::span<const SignatureResult> all = op.signature.results;
  const std::string_view returns = all.size() == 1 ? all[0].type : std::string_view();
  if (all.size() == 1 && all[0].is_list()) {
    *static_cast<std::vector<Tensor>*>(result) = std::move(results);
    return;
  }
  const auto number = [&]() -> Scalar {
    check_number(op, 1, results.size());
    return results[0].item();
  };
  if (returns == "bool") {
    *static_cast<bool*>(result) = number().to<bool>();
  } else if (returns == "int") {
    *static_cast<int64_t*>(result) = number().to<int64_t>();
  } else if (returns == "float") {
    *static_cast<double*>(result) = number().to<double>();
  } else if (returns == "Scalar") {
    *static_cast<Scalar*>(result) = number();
  } else {
    check_number(op, static_cast<size_t>(op.num_outputs), results.size());
    switch (op.num_outputs) {
      case 0:
        return;
      case 1:
        *static_cast<Tensor*>(result) = std::move(results[0]);
        return;
      case 2:
        return store_tuple<Tensor, Tensor>(results, result);
      case 3:
        return store_tuple<Tensor, Tensor, Tensor>(results, result);
      case 4:
        return store_tuple<Tensor, Tensor, Tensor, Tensor>(results, result);
      case 5:
        return store_tuple<Tensor, Tensor, Tensor, Tensor, Tensor>(results, result);
      default:
        ARGAND_THROW(NotImplementedError, op.name, ": a call with ", op.num_outputs,
                     " results cannot be intercepted as a whole");
    }
  }
}

}  // namespace

bool offer_plain(const OpInfo& op, void* args, std::span<Tensor> outs) {
  const AutocastScope autocast(op, args);
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (!is_wanted(slots, {})) return false;
  check_defined(op, args, slots);
  const bool records = any_requires_grad(op, args, slots);
  std::vector<Tensor> results;
  if (!offer({op, args, Form::kPlain, {}, records}, results)) return false;
  check_number(op, outs.size(), results.size());
  const bool is_view = op.kind == OpKind::kView && op.differentiable && !DispatchHooks::below_autograd();
  bool any_gradient = false;
  for (size_t i = 0; i < outs.size(); ++i) {
    outs[i] = std::move(results[i]);
    if (!outs[i].defined()) continue;
    any_gradient |= is_differentiable(outs[i].dtype());
    if (records || is_view) make_new(slots, outs[i]);
  }
  const Tensor* base = is_view && slots.size() > 0 ? slots[0].tensor : nullptr;
  if (base && outs[0].defined() && !base->is_inference() && outs[0].is_alias_of(*base)) mark_view(outs[0], *base);
  if (records && any_gradient) record(op, args, outs, nullptr);
  return true;
}

bool offer_inplace(const OpInfo& op, void* args, const Tensor& given) {
  const AutocastScope no_autocast;
  Tensor self = given;  // the caller's handle may be inside args, which recording moves from
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (!is_wanted(slots, {})) return false;
  check_defined(op, args, slots);
  const bool records = any_requires_grad(op, args, slots) && is_differentiable(self.dtype());
  check_writable(op, self, records);
  // The graph keeps copies of overwritten tensors; the interceptor sees the tensors of the call.
  std::vector<Tensor> of_call;
  for (const TensorSlot& s : slots) of_call.push_back(*s.tensor);
  if (records) keep_values_before_write(op, slots, self);
  std::vector<Tensor> kept;
  for (size_t i = 0; i < slots.size(); ++i) kept.push_back(std::exchange(*slots[i].tensor, of_call[i]));
  std::vector<Tensor> results;
  const bool taken = offer({op, args, Form::kInPlace, {}, records}, results);
  if (!taken) return false;
  for (size_t i = 0; i < slots.size(); ++i) *slots[i].tensor = std::move(kept[i]);
  if (records)
    record(op, args, {&self, 1}, &self);
  else if (!DispatchHooks::below_autograd())
    self.storage()->bump_version(op.name);
  return true;
}

bool offer_out(const OpInfo& op, void* args, std::span<Tensor> outs) {
  const AutocastScope no_autocast;
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (!is_wanted(slots, outs)) return false;
  bool requires_grad = any_requires_grad(op, args, slots);
  if (GradMode::is_enabled() && !DispatchHooks::below_autograd())
    requires_grad |= std::ranges::any_of(outs, [](const Tensor& t) { return t.requires_grad(); });
  check_out_not_recorded(op, requires_grad);
  std::vector<Tensor> results;
  if (!offer({op, args, Form::kOut, outs, false}, results)) return false;
  if (!DispatchHooks::below_autograd())
    for (const Tensor& out : outs) out.storage()->bump_version(op.name);
  return true;
}

bool offer_composite(const OpInfo& op, void* args, std::vector<Tensor>& results) {
  const AutocastScope autocast(op, args);
  TensorSlots slots;
  op.args.tensors(args, slots);
  if (!is_wanted(slots, {})) return false;
  const bool records = any_requires_grad(op, args, slots) || has_tangents(slots);
  const Form form = op.inplace_only ? Form::kInPlace : Form::kPlain;
  if (!offer({op, args, form, {}, records}, results)) return false;
  if (form == Form::kInPlace && slots.size() > 0) {
    results.assign(1, *slots[0].tensor);
    if (!DispatchHooks::below_autograd()) results[0].storage()->bump_version(op.name);
  }
  return true;
}

bool offer_composite(const OpInfo& op, void* args, void* result) {
  std::vector<Tensor> results;
  if (!offer_composite(op, args, results)) return false;
  store(op, results, result);
  return true;
}

std::optional<Scalar> offer_item(const Tensor& t) {
  if (t.impl().wrapped_number) return std::nullopt;
  if ((DispatchHooks::state & DispatchHooks::kModes) == 0 && !DispatchHooks::intercepts(t.impl())) return std::nullopt;
  const DispatchStateGuard below(DispatchHooks::kBelowAutograd);
  return DispatchHooks::interceptor.load(std::memory_order_acquire)->read(t);
}

}  // namespace argand::exec
