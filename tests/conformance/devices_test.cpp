// The meta device gives the same shapes, dtypes and strides without computing; one thread gives the bits of two.
#include <gtest/gtest.h>

#include "argand/ops/functions.h"
#include "argand/runtime/cpu/thread_pool.h"
#include "tests/conformance/checks.h"
#include "tests/conformance/compare.h"

namespace argand::conformance {

void check_meta(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty() || lead_dtype(sample, *c.op) == ScalarType::Undefined) continue;
    SCOPED_TRACE(str("op=", c.name, " sample=", i, " on the meta device"));
    const auto meta = sample.clone();
    TensorSlots slots = slots_of(*meta, *c.op);
    for (const TensorSlot& s : slots)
      if (s.tensor->defined() && !s.tensor->impl().wrapped_number)
        *s.tensor =
            exec::new_tensor({s.tensor->impl().sizes, s.tensor->dtype(), s.tensor->impl().strides}, Device(kMeta));
    std::vector<Tensor> got;
    try {
      got = call(*c.op, *meta);
    } catch (const NotImplementedError&) {
      skipped(c, "no meta tensors: the result's shape depends on values");
      return;
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
      return;
    }
    const std::vector<Tensor> expected = call(*c.op, *sample.clone());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
      if (!expected[k].defined() || expected[k].impl().wrapped_number) continue;
      EXPECT_TRUE(got[k].is_meta());
      EXPECT_EQ(str(got[k].dtype()), str(expected[k].dtype()));
      EXPECT_EQ(str(got[k].sizes(), got[k].strides()), str(expected[k].sizes(), expected[k].strides()))
          << "result " << k;
    }
  }
}

// Samples are small: pointwise ops get tensors that several threads share, the others show that the number of threads
// does not matter to what they do at all.
void check_threads(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  const int before = get_num_threads();
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty()) continue;
    const ScalarType lead = lead_dtype(sample, *c.op);
    const ScalarType dtype = lead == kDouble ? kFloat : lead;
    if (!claims(*c.op, sample, lead, dtype)) continue;
    SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype));
    std::vector<Array> values = values_in(*c.op, sample, lead, dtype);
    if (c.op->kind == OpKind::kPointwise) {
      for (Array& a : values) {
        constexpr int64_t kTimes = 40000;
        Values once = a.values;
        a.sizes.insert(a.sizes.begin(), kTimes);
        for (int64_t k = 1; k < kTimes && !once.empty(); ++k) a.values.insert(a.values.end(), once.begin(), once.end());
      }
    }
    std::vector<Tensor> results[2];
    try {
      for (const int threads : {1, 2}) {
        set_num_threads(threads);
        const auto args = sample.clone();
        place(*c.op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
        results[threads - 1] = call(*c.op, *args);
      }
    } catch (const Error&) {
      continue;  // Values tells
    }
    const bool unset = std::string_view(c.op->name).find("empty") != std::string_view::npos;
    for (size_t k = 0; k < results[0].size() && !unset; ++k)
      if (results[0][k].defined()) {
        EXPECT_EQ(bit_difference(results[1][k], results[0][k]), "") << "two threads differ from one";
      }
    if (c.op->kind == OpKind::kPointwise) break;  // one sample of that size is enough
  }
  set_num_threads(before);
}

static const bool registered = register_tests("Meta", check_meta) && register_tests("Threads", check_threads);

}  // namespace argand::conformance
