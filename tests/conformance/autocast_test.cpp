// The dtypes that ops give under autocast are PyTorch's (tests/data/autocast_dtypes.txt, which make_autocast_dtypes.py
// writes and describes), and the ops that are not listed there give what they give without.  On CUDA this runs without
// a GPU, too (ARGAND_CUDA_DRY_RUN=1), because nothing looks at values.
#include "argand/exec/autocast.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/conformance/checks.h"

namespace argand::conformance {
namespace {

using Outcomes = std::vector<std::string>;  // for float32, the lower dtype, and both mixed

const Outcomes* expected_of(const OpCase& c) {
  static const auto facts = [] {
    std::map<std::pair<std::string, std::string>, Outcomes> out;
    std::ifstream file("tests/data/autocast_dtypes.txt");
    std::string op, device;
    Outcomes o(3);
    while (file >> op >> device >> o[0] >> o[1] >> o[2]) out[{op, device}] = o;
    return out;
  }();
  EXPECT_FALSE(facts.empty()) << "tests/data/autocast_dtypes.txt is missing";
  const auto it = facts.find({c.name, test_device().is_cpu() ? "cpu" : "cuda"});
  return it == facts.end() ? nullptr : &it->second;
}

// The first float64 tensor in dtype `first`, the rest in `others`.
std::string outcome(const OpCase& c, AnyArgs& sample, ScalarType first, ScalarType others, bool enabled) {
  const auto args = sample.clone();
  TensorSlots slots = slots_of(*args, *c.op);
  bool met = false;
  for (const TensorSlot& s : slots) {
    if (!s.tensor->defined() || s.tensor->impl().wrapped_number) continue;
    const bool changes = s.tensor->dtype() == kDouble;
    *s.tensor = s.tensor->to(test_device(), !changes ? s.tensor->dtype() : met ? others : first, false, true);
    met |= changes;
  }
  std::string out;
  try {
    const DeviceType device = test_device().type();
    const AutocastGuard guard(device, autocast::get_autocast_dtype(device), enabled);
    for (const Tensor& t : call(*c.op, *args))
      out += str(out.empty() ? "" : ",", t.defined() ? dtype_name(t.dtype()) : "none");
  } catch (const Error&) {
    return "error";
  }
  return out;
}

}  // namespace

void check_autocast(const OpCase& c) {
  const std::vector<Sample> samples = samples_of(*c.op);
  const auto sample = std::find_if(samples.begin(), samples.end(), [&](const Sample& s) {
    return s.error.empty() && lead_dtype(*s.args, *c.op) == kDouble;
  });
  const Outcomes* expected = expected_of(c);
  if (expected && (*expected)[0] == "unknown") return;  // there is nothing to compare with
  if (sample == samples.end()) {
    EXPECT_EQ(expected, nullptr) << c.name << " has no sample";
    return;
  }
  AnyArgs& args = *sample->args;
  const ScalarType low = autocast::get_autocast_dtype(test_device().type());
  const std::pair<ScalarType, ScalarType> inputs[] = {{kFloat, kFloat}, {low, low}, {low, kFloat}};
  for (size_t i = 0; i < 3; ++i) {
    const auto [first, others] = inputs[i];
    SCOPED_TRACE(str("op=", c.name, " tensors: ", first, ", then ", others));
    const std::string got = outcome(c, args, first, others, true);
    const std::string plain = outcome(c, args, first, others, false);
    if (std::getenv("ARGAND_CUDA_DRY_RUN") && plain == "error") continue;  // values a pretended device does not compute
    if (expected) {
      if (i == 2 && (*expected)[i] == "error") continue;  // of mixed dtypes PyTorch refuses more, here and below
      EXPECT_EQ(got, (*expected)[i]);
    } else if (i < 2 || plain != "error") {
      EXPECT_EQ(got, plain) << "PyTorch does not change this op under autocast";
    }
  }
}

static const bool registered = register_tests("Autocast", check_autocast);

}  // namespace argand::conformance
