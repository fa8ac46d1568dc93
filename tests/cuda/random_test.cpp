// Ops of a GPU that run on the CPU for want of a kernel draw random numbers from the GPU's generator.  On the pretended
// GPU too.
#include <functional>

#include "argand/core/cpu_generator.h"
#include "argand/core/cuda_generator.h"
#include "argand/ops/functions.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using Op = std::function<Tensor(const std::optional<Generator>&)>;

Tensor on_gpu(double value) { return full({64}, value, TensorOptions(kDouble)).cuda(); }

struct NamedOp {
  const char* name;
  Op draw;
};
const std::vector<NamedOp>& ops() {
  static const auto& all =
      *new std::vector<NamedOp>{{"poisson", [](const auto& g) { return poisson(on_gpu(50), g); }},
                                {"binomial", [](const auto& g) { return binomial(on_gpu(1000), on_gpu(0.25), g); }},
                                {"_standard_gamma", [](const auto& g) { return _standard_gamma(on_gpu(3), g); }},
                                {"_sample_dirichlet", [](const auto& g) { return _sample_dirichlet(on_gpu(3), g); }}};
  return all;
}

Generator& gpu() { return backend_of(kCUDA).default_generator(0); }

class CudaRandom : public CudaTest {};

TEST_F(CudaRandom, TheGpusSeedSaysWhatIsDrawn) {
  for (const auto& [name, draw] : ops()) {
    const std::vector<uint8_t> of_cpu = default_cpu_generator().state();
    gpu().set_current_seed(5);
    const Tensor first = draw({}), second = draw({});
    EXPECT_TRUE(first.is_cuda()) << name;
    gpu().set_current_seed(5);
    EXPECT_TRUE(equal(draw({}), first)) << name;
    EXPECT_TRUE(equal(draw({}), second)) << name;
    EXPECT_FALSE(equal(first, second)) << name;
    gpu().set_current_seed(6);
    EXPECT_FALSE(equal(draw({}), first)) << name;
    EXPECT_EQ(default_cpu_generator().state(), of_cpu) << name;
    manual_seed(7);
    const Tensor seeded = draw({});
    manual_seed(7);
    EXPECT_TRUE(equal(draw({}), seeded)) << name;
  }
}

TEST_F(CudaRandom, AGeneratorThatIsGivenIsMovedOn) {
  for (const auto& [name, draw] : ops()) {
    gpu().set_current_seed(5);
    const std::vector<uint8_t> before = gpu().state();
    Generator own = make_cuda_generator(Device(kCUDA, 0), 5);
    const Tensor first = draw(own), second = draw(own);
    EXPECT_EQ(gpu().state(), before) << name;
    EXPECT_FALSE(equal(first, second)) << name;
    EXPECT_TRUE(equal(draw({}), first)) << name;
  }
}

// Seed 0 after one draw, of four numbers, is not seed 4 before the first.
TEST_F(CudaRandom, OffsetsAreNotSeeds) {
  for (const auto& [name, draw] : ops()) {
    gpu().set_current_seed(0);
    draw({});
    const Tensor second = draw({});
    gpu().set_current_seed(4);
    EXPECT_FALSE(equal(draw({}), second)) << name;
  }
}

TEST_F(CudaRandom, GeneratorsOfOtherDevicesAreRefused) {
  for (const auto& [name, draw] : ops())
    EXPECT_EQ(message_of<DeviceError>([&, &draw = draw] { draw(make_cpu_generator(1)); }),
              "Generator: expected a generator for cuda:0, got one for cpu")
        << name;
  EXPECT_EQ(message_of<DeviceError>([] { poisson(ones({3}), make_cuda_generator(Device(kCUDA, 0), 1)); }),
            "Generator: expected a generator for cpu, got one for cuda:0");
}

// The statistics of what is drawn in many calls: that calls do not repeat each other.
TEST_F(CudaRandom, ManyCallsHaveTheMeanAndVariance) {
  gpu().set_current_seed(1);
  Tensor all = zeros({200, 64}, kDouble);
  for (int i = 0; i < 200; ++i) all.select(0, i).copy_(poisson(on_gpu(50)).cpu());
  const double n = 200.0 * 64;
  EXPECT_NEAR(all.mean().item().toDouble(), 50, 5 * std::sqrt(50 / n));
  EXPECT_NEAR(all.var().item().toDouble(), 50, 5 * 50 * std::sqrt(2 / n));
  EXPECT_NEAR(all.mean(1).var().item().toDouble(), 50.0 / 64, 5 * 50.0 / 64 * std::sqrt(2.0 / 200));
}

}  // namespace
}  // namespace argand
