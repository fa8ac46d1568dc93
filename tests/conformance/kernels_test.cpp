// Every kernel that the calls of all samples need compiles for the device under test, and the code around it takes
// every dtype and layout.  Nothing is compared, so this runs without a GPU (ARGAND_CUDA_DRY_RUN=1).  No other op runs
// on the CPU instead.
#include <gtest/gtest.h>

#include <algorithm>

#include "argand/base/log.h"
#include "tests/conformance/checks.h"

namespace argand::conformance {
namespace {

// Whether the definition says that the op runs on the CPU: docs/operators.md lists those.
bool is_on_cpu(std::string_view name) {
  return std::any_of(all_ops().begin(), all_ops().end(), [&](const OpInfo* op) {
    return op->name.c_str() == name && op->kind == OpKind::kKernel && !op->runs_anywhere;
  });
}

// The names of the ops that ran on the CPU meanwhile for want of a kernel; each is told once in a process.
class FallbackWatch {
 public:
  FallbackWatch() : before_(set_warning_handler([this](std::string_view message) { note(message); })) {}
  ~FallbackWatch() { set_warning_handler(before_); }
  FallbackWatch(const FallbackWatch&) = delete;
  FallbackWatch& operator=(const FallbackWatch&) = delete;
  const std::vector<std::string>& ops() const { return ops_; }

 private:
  void note(std::string_view message) {
    const size_t end = message.find(": there is no kernel for ");
    if (end != std::string_view::npos) ops_.emplace_back(message.substr(0, end));
  }
  WarningFunction before_;
  std::vector<std::string> ops_;
};

}  // namespace

void check_kernels(const OpCase& c) {
  if (!test_device().is_cuda()) GTEST_SKIP() << "for ARGAND_TEST_DEVICE=cuda";
  const std::vector<Sample> samples = samples_of(*c.op);
  const FallbackWatch watch;
  for (size_t i = 0; i < samples.size(); ++i) {
    AnyArgs& sample = *samples[i].args;
    if (!samples[i].error.empty()) continue;
    const ScalarType lead = lead_dtype(sample, *c.op);
    for (int t = 0; t < kNumScalarTypes; ++t) {
      const auto dtype = static_cast<ScalarType>(t);
      // Other types differ by their name alone, and each kernel takes a tenth of a second.
      const bool pointwise = c.op->kind == OpKind::kPointwise;
      if (dtype != kFloat && dtype != kComplexFloat && dtype != (pointwise ? kLong : kHalf)) continue;
      // Without tensors there is one call.
      const bool none = lead == ScalarType::Undefined && dtype == kFloat;
      if (!none && dtype != lead && (lead != kDouble || !claims(*c.op, sample, lead, dtype))) continue;
      SCOPED_TRACE(str("op=", c.name, " sample=", i, " dtype=", dtype));
      const auto args = sample.clone();
      const std::vector<Array> values = values_in(*c.op, sample, lead, dtype);
      place(*c.op, *args, values, lead, dtype, Layouts(values.size(), Arrangement::kContiguous));
      try {
        for (const Tensor& out : call(*c.op, *args))
          if (out.defined()) out.impl().data();  // issues what waits
      } catch (const InternalError& e) {
        ADD_FAILURE() << e.what();
      } catch (const DeviceError& e) {  // an op that is made of others put something on the CPU
        ADD_FAILURE() << e.what();
      } catch (const Error& e) {
        const std::string_view text = e.what();
        if (text.find("does not compile") != std::string_view::npos) ADD_FAILURE() << text;
      }
    }
  }
  for (const std::string& op : watch.ops())
    if (!is_on_cpu(op)) ADD_FAILURE() << op << " has no kernel for " << str(test_device());
}

static const bool registered = register_tests("Kernels", check_kernels);

}  // namespace argand::conformance
