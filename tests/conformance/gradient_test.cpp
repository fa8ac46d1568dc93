// gradcheck and gradgradcheck of every op that can be differentiated, on its samples, in float64 and complex128.
#include <gtest/gtest.h>

#include "argand/autograd/gradcheck.h"
#include "argand/ops/functions.h"
#include "tests/conformance/checks.h"

namespace argand::conformance {
namespace {

using autograd::CheckedFunction;

struct Subject {
  const OpCase& c;
  std::unique_ptr<AnyArgs> args;
  std::vector<size_t> positions;  // of tensor slots that are differentiated
  std::vector<Tensor> inputs;
};

Subject subject_of(const OpCase& c, AnyArgs& sample, ScalarType dtype) {
  Subject s{c, sample.clone(), {}, {}};
  const std::vector<Array> values = values_in(*c.op, *s.args, kDouble, dtype);
  place(*c.op, *s.args, values, kDouble, dtype, Layouts(values.size(), Arrangement::kContiguous));
  TensorSlots slots = slots_of(*s.args, *c.op);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor& t = *slots[i].tensor;
    if (!varies(t, dtype) || is_constant(*c.op, *s.args, i)) continue;
    s.positions.push_back(i);
    s.inputs.push_back(t.set_requires_grad(true));
  }
  return s;
}

// Larger samples are checked along one direction instead of element by element, and all are on a GPU, where each value
// of the function is waited for; the CPU has checked what the gradients of single elements are.
int64_t most_elements() { return test_device().is_cpu() ? 200 : 0; }

// The call as a function of the differentiated tensors.  What writes its first argument gets a copy of it.
CheckedFunction function_of(const Subject& s, bool in_place) {
  return [&s, in_place](const std::vector<Tensor>& in) {
    const OpInfo& op = *s.c.op;
    const auto args = s.args->clone();
    TensorSlots slots = slots_of(*args, op);
    for (size_t k = 0; k < in.size(); ++k) *slots[s.positions[k]].tensor = in[k];
    if (!in_place && !op.inplace_only) return call(op, *args);
    // One half of a larger tensor, so that the write goes through CopySlices; the other half counts too.
    const Tensor self = *slots[0].tensor;
    Dims twice = self.impl().sizes;
    twice.insert(twice.begin(), 2);
    const Tensor base = zeros(twice, self.options());
    base.copy_(self);
    const Tensor view = base.select(0, 1);
    *slots[0].tensor = view;
    if (op.inplace_only)
      call(op, *args);
    else
      call_inplace(op, *args, view);
    return std::vector<Tensor>{base, view};
  };
}

int64_t elements(const std::vector<Tensor>& tensors) {
  int64_t n = 0;
  for (const Tensor& t : tensors)
    if (t.defined()) n += t.numel();
  return n;
}

void check_one(const OpCase& c, AnyArgs& sample, size_t index, ScalarType dtype, bool in_place) {
  SCOPED_TRACE(str("op=", c.name, " sample=", index, " dtype=", dtype, in_place ? " in place on a view" : ""));
  const Subject s = subject_of(c, sample, dtype);
  if (s.inputs.empty()) return;
  const CheckedFunction f = function_of(s, in_place);
  std::vector<Tensor> results;
  try {
    results = f(s.inputs);
  } catch (const Error& e) {
    if (dtype == kDouble && !in_place) ADD_FAILURE() << e.what();
    return;
  }
  bool any = false;
  for (const Tensor& r : results) {
    if (r.defined() && r.requires_grad()) any = true;
    const bool impossible = r.defined() && r.requires_grad() && !is_differentiable(r.dtype());
    EXPECT_FALSE(impossible) << str("a result of ", r.dtype(), " requires grad");
  }
  const bool claims_none = !c.op->differentiable && c.op->kind != OpKind::kComposite;
  EXPECT_FALSE(any && claims_none) << "the op says that it is not differentiable";
  if (!any) return;
  for (const Tensor& r : results)
    if (is_differentiable(r.dtype()) && to_real_type(r.dtype()) != kDouble)
      return skipped(c, "differences need float64 results");
  const int64_t size = elements(s.inputs) + elements(results);
  try {
    autograd::gradcheck(f, s.inputs, {.fast_mode = size > most_elements()});
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    return;
  }
  try {
    autograd::gradgradcheck(f, s.inputs, {}, {.fast_mode = size > most_elements() / 2});
  } catch (const NotImplementedError& e) {
    skipped(c, "no second gradient");
  } catch (const Error& e) {
    ADD_FAILURE() << "second gradient: " << e.what();
  }
}

}  // namespace

void check_gradient(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  size_t valid = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& args = *samples[i].args;
    if (!samples[i].error.empty() || lead_dtype(args, *c.op) != kDouble) continue;
    if (!samples[i].gradient) {
      skipped(c, "the sample asks for no gradient (a kink or a tie)");
      continue;
    }
    ++valid;
    check_one(c, args, i, kDouble, false);
    if (claims(*c.op, args, kDouble, kComplexDouble)) check_one(c, args, i, kComplexDouble, false);
    if (c.op->has_inplace && valid == 1) check_one(c, args, i, kDouble, true);
  }
}

static const bool registered = register_tests("Gradient", check_gradient);

}  // namespace argand::conformance
