// Every kernel that the calls of all samples need compiles for the device under test, and the code around it takes
// every dtype and layout.  Nothing is compared, so this runs without a GPU (ARGAND_CUDA_DRY_RUN=1).
#include <gtest/gtest.h>

#include "tests/conformance/checks.h"

namespace argand::conformance {

void check_kernels(const OpCase& c) {
  if (test_device().is_cpu()) GTEST_SKIP() << "for ARGAND_TEST_DEVICE=cuda";
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty()) continue;
    const ScalarType lead = lead_dtype(sample, *c.op);
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const auto dtype = static_cast<ScalarType>(t);
      // Other types differ by their name alone, and each kernel takes a tenth of a second.
      const bool pointwise = c.op->kind == OpKind::kPointwise;
      if (dtype != kFloat && dtype != (pointwise ? kLong : kHalf) && !(pointwise && dtype == kComplexFloat)) continue;
      if (dtype != lead && (lead != kDouble || !claims(*c.op, sample, lead, dtype))) continue;
      SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype));
      const auto args = sample.clone();
      const std::vector<Array> values = values_in(*c.op, sample, lead, dtype);
      place(*c.op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
      try {
        for (const Tensor& out : call(*c.op, *args))
          if (out.defined()) out.impl().data();  // issues what waits
      } catch (const InternalError& e) {
        ADD_FAILURE() << e.what();
      } catch (const Error& e) {
        const std::string_view text = e.what();
        if (text.find("does not compile") != std::string_view::npos) ADD_FAILURE() << text;
      }
    }
  }
}

static const bool registered = register_tests("Kernels", check_kernels);

}  // namespace argand::conformance
