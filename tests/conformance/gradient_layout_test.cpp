// The gradient of every op where its tensors, and what it is the gradient of, are not contiguous: as near the
// contiguous one as rounding lets it be.  Kernels choose other loops there, such as those for channels that are last.
#include <gtest/gtest.h>

#include "argand/autograd/engine.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::conformance {
namespace {

// Products and sums of some hundred terms, in another order.
constexpr double kRelative = 1e-11;

// A gradient for backward, of the result's shape, and in this layout where the shape allows it.
Tensor cotangent_of(const Tensor& result, Arrangement a) {
  Array values{result.impl().sizes, Values(static_cast<size_t>(result.numel()))};
  for (size_t i = 0; i < values.values.size(); ++i) {
    const double x = std::cos(static_cast<double>(i) * 2.4 + 0.5);
    values.values[i] = result.is_complex() ? std::complex<double>(x, 0.5 - x) : x;
  }
  const OnDevice device(result.device());
  return arranged(values, result.dtype(), applies(a, values.sizes) ? a : Arrangement::kContiguous);
}

std::vector<Array> gradients(const OpInfo& op, AnyArgs& sample, Arrangement a) {
  const auto args = sample.clone();
  const std::vector<Array> values = values_in(op, *args, kDouble, kDouble);
  Layouts layouts(values.size(), Arrangement::kContiguous);
  TensorSlots slots = slots_of(*args, op);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor& t = *slots[i].tensor;
    if (t.defined() && !t.impl().wrapped_number && applies(a, t.impl().sizes)) layouts[i] = a;
  }
  place(op, *args, values, kDouble, kDouble, layouts);
  slots = slots_of(*args, op);
  std::vector<Tensor> inputs, roots, cotangents;
  for (size_t i = 0; i < slots.size(); ++i)
    if (varies(*slots[i].tensor, kDouble) && !is_constant(op, *args, i))
      inputs.push_back(slots[i].tensor->set_requires_grad(true));
  for (const Tensor& t : call(op, *args)) {
    if (!t.defined() || !t.requires_grad()) continue;
    roots.push_back(t);
    cotangents.push_back(cotangent_of(t, a));
  }
  std::vector<Array> out;
  if (inputs.empty() || roots.empty()) return out;
  for (const Tensor& g : autograd::grad(roots, inputs, cotangents, false, false, true))
    out.push_back(g.defined() ? read(g) : Array{});
  return out;
}

double largest(const Values& values) {
  double most = 0;
  for (const auto v : values)
    if (std::isfinite(std::abs(v))) most = std::max(most, std::abs(v));
  return most;
}

void expect_near(const Array& got, const Array& expected, size_t k) {
  ASSERT_TRUE(got.sizes == expected.sizes) << "gradient " << k;
  const double limit = kRelative * largest(expected.values);
  for (size_t i = 0; i < got.values.size(); ++i) {
    const auto a = got.values[i], b = expected.values[i];
    const bool same = a == b || (std::isnan(std::abs(a)) && std::isnan(std::abs(b))) || std::abs(a - b) <= limit;
    ASSERT_TRUE(same) << "gradient " << k << " element " << i << ": got " << a << ", expected " << b;
  }
}

}  // namespace

void check_gradient_layouts(const OpCase& c) {
  if (const std::string why = sink_of(*c.op).why_strides_count(); !why.empty())
    return skipped(c, str("no other layouts: ", why));
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& args = *samples[i].args;
    if (!samples[i].error.empty() || !samples[i].gradient || lead_dtype(args, *c.op) != kDouble) continue;
    const std::vector<Array> expected = gradients(*c.op, args, Arrangement::kContiguous);
    for (const Arrangement a : {Arrangement::kTransposed, Arrangement::kSliced, Arrangement::kChannelsLast}) {
      SCOPED_TRACE(str("op=", c.name, " sample=", i, " layout=", name_of(a)));
      std::vector<Array> got;
      try {
        got = gradients(*c.op, args, a);
      } catch (const ShapeError& e) {
        skipped(c, "not a view of these strides");
        continue;
      }
      ASSERT_EQ(got.size(), expected.size());
      for (size_t k = 0; k < got.size(); ++k) expect_near(got[k], expected[k], k);
    }
  }
}

static const bool registered =
    register_tests("GradientLayout", check_gradient_layouts, [](const OpInfo& op) { return !op.inplace_only; });

}  // namespace argand::conformance
