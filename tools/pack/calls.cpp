#include "tools/pack/calls.h"

#include <algorithm>

#include "argand/core/shape.h"
#include "argand/exec/cuda.h"
#include "argand/exec/invoke.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/ops/samples.h"

namespace argand::pack {
namespace {

constexpr ScalarType kPackedTypes[] = {kFloat, kHalf, kBFloat16, kLong};
constexpr ScalarType kCopiedTypes[] = {kFloat, kHalf, kBFloat16, kLong, kBool, kInt, kByte, kDouble};

// Seldom called, and dear: half a second to compile for each dtype.
constexpr std::string_view kLeftOut[] = {"digamma", "polygamma", "lgamma", "i0", "special_i1"};

const Device kGpu(kCUDA, 0);

std::vector<Sample> samples_of(const OpInfo& op) {
  SampleSink sink(op.name.c_str());
  op.samples(sink);
  return std::move(sink.samples());
}

TensorSlots slots_of(AnyArgs& args, const OpInfo& op) {
  TensorSlots slots;
  op.args.tensors(args.get(), slots);
  return slots;
}

bool is_number(const Tensor& t) { return t.impl().wrapped_number; }

// A call may be none: its dtype or shape is not for this op, or the op runs on the CPU.  Then nothing is compiled.
template <class F>
void attempt(F call) {
  try {
    call();
    exec::flush();
  } catch (const Error&) {
    exec::flush();
  }
}

// The samples' floating-point tensors are float64; what else they have is meant so.
ScalarType packed_type(const Tensor& t, ScalarType lead, ScalarType wanted) {
  return t.dtype() == lead ? wanted : t.dtype();
}

ScalarType lead_of(AnyArgs& args, const OpInfo& op) {
  ScalarType lead = ScalarType::Undefined;
  for (const TensorSlot& s : slots_of(args, op)) {
    if (!s.tensor->defined() || is_number(*s.tensor)) continue;
    if (lead == ScalarType::Undefined || s.tensor->dtype() == kDouble) lead = s.tensor->dtype();
  }
  return lead;
}

bool takes(const OpInfo& op, AnyArgs& args, ScalarType lead, ScalarType wanted) {
  TensorSlots slots = slots_of(args, op);
  return slots.size() > 0 && slots[0].tensor->defined() &&
         contains(op.dtypes, packed_type(*slots[0].tensor, lead, wanted));
}

void call(const OpInfo& op, AnyArgs& args) {
  for (const Tensor& t : exec::call(op, args.get()))
    if (t.defined()) t.impl().data();  // issues what waits
}

// ---- pointwise ops

enum class Form { kWhole, kStrided };

// A tensor of the sample's dtype and shape, or whole: of the shape of them all.
Tensor operand(const Tensor& t, ScalarType dtype, const Dims& whole, Form form) {
  if (form == Form::kWhole) return empty(whole, TensorOptions(dtype).device(kGpu));
  Dims twice = t.impl().sizes;
  if (twice.empty()) return empty(twice, TensorOptions(dtype).device(kGpu));
  twice.back() *= 2;
  return empty(twice, TensorOptions(dtype).device(kGpu)).slice(-1, 0, twice.back(), 2);
}

// The arguments of a sample on the GPU; operand `number`, if any, is one number instead.
void call_sample(const OpInfo& op, const Sample& sample, ScalarType dtype, Form form, int number = -1) {
  const auto args = sample.args->clone();
  const ScalarType lead = lead_of(*args, op);
  if (lead != kDouble && lead != dtype) return;
  if (!takes(op, *args, lead, dtype)) return;
  TensorSlots slots = slots_of(*args, op);
  if (number >= static_cast<int>(slots.size())) return;
  Dims whole;
  for (const TensorSlot& s : slots)
    if (s.tensor->defined()) whole = broadcast_shapes(whole, s.tensor->sizes(), op.name);
  if (numel_of(whole) == 0) return;
  int at = 0;
  for (const TensorSlot& s : slots) {
    Tensor& t = *s.tensor;
    const bool as_number = at++ == number;
    if (!t.defined() || is_number(t)) continue;
    const ScalarType type = packed_type(t, lead, dtype);
    t = as_number ? exec::wrapped_number(is_integral(type, true) ? Scalar(1) : Scalar(1.0))
                  : operand(t, type, whole, form);
  }
  call(op, *args);
}

bool is_packed(const OpInfo& op, ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return op.autocast != Autocast::kFloat32;
  const Promote promote = op.pointwise ? op.pointwise->promote : Promote::kDefault;
  return dtype == kFloat || (promote != Promote::kFloat && promote != Promote::kRealFloat);
}

void call_pointwise(const OpInfo& op) {
  const bool arithmetic = op.signature.arguments.size() > 1 && op.signature.arguments[1].takes_number();
  for (const Sample& sample : samples_of(op)) {
    if (!sample.error.empty()) continue;
    for (const ScalarType dtype : kPackedTypes) {
      if (!is_packed(op, dtype)) continue;
      attempt([&] { call_sample(op, sample, dtype, Form::kWhole); });
      if (arithmetic) attempt([&] { call_sample(op, sample, dtype, Form::kWhole, 1); });
    }
    if (!arithmetic) continue;
    attempt([&] { call_sample(op, sample, kFloat, Form::kWhole, 0); });
    attempt([&] { call_sample(op, sample, kFloat, Form::kStrided); });
  }
}

void copy_and_fill() {
  for (const ScalarType to : kCopiedTypes) {
    const Tensor out = empty({8, 8}, TensorOptions(to).device(kGpu)), strided = out.t();
    attempt([&] { out.fill_(1); });
    attempt([&] { out.copy_(strided.t().t()); });
    for (const ScalarType from : kCopiedTypes)
      attempt([&] { out.copy_(empty({8, 8}, TensorOptions(from).device(kGpu))); });
  }
}

}  // namespace

void call_pointwise_ops(const Announce& announce) {
  announce("copies and fills");
  copy_and_fill();
  for (const OpInfo* op : all_ops()) {
    if (op->kind != OpKind::kPointwise) continue;
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), op->name.c_str()) != std::end(kLeftOut)) continue;
    announce(op->name.c_str());
    call_pointwise(*op);
  }
}

}  // namespace argand::pack
