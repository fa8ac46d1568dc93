// Every op that makes tensors by options makes them in page-locked memory if asked to, by whatever path: on the
// pretended device too.  Where there is no accelerator it is refused.
#include <gtest/gtest.h>

#include "argand/runtime/backend.h"
#include "tests/conformance/op_case.h"

namespace argand::conformance {
namespace {

bool makes_by_options(const OpInfo& op) {
  const std::vector<Sample> samples = samples_of(op);
  return !samples.empty() && op.args.options(samples[0].args->get()) != nullptr;
}

}  // namespace

void check_pinned(const OpCase& c) {
  const bool can_pin = find_accelerator() != nullptr;
  const std::vector<Sample> samples = samples_of(*c.op);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].error.empty()) continue;
    SCOPED_TRACE(str("op=", c.name, " sample=", i));
    TensorOptions& options = *c.op->args.options(samples[i].args->get());
    if (options.device_opt().value_or(kCPU) != Device(kCPU)) continue;
    options = options.pinned_memory(true);
    const auto args = samples[i].args->clone();
    if (!can_pin) {
      EXPECT_THROW(exec::call(*c.op, args->get()), DeviceError);
      continue;
    }
    for (const Tensor& out : exec::call(*c.op, args->get())) EXPECT_TRUE(out.is_cpu() && out.is_pinned());
    const auto there = samples[i].args->clone();
    TensorOptions& elsewhere = *c.op->args.options(there->get());
    elsewhere = elsewhere.device(accelerator_type());
    EXPECT_THROW(exec::call(*c.op, there->get()), DeviceError) << "memory of a device cannot be pinned";
  }
}

static const bool registered = register_tests("Pinned", check_pinned, makes_by_options);

}  // namespace argand::conformance
