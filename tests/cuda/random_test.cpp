// Where random numbers of a GPU come from: kernels that take as many as they need, and ops that run on the CPU for want
// of a kernel, on the pretended GPU too.
#include <algorithm>
#include <cmath>
#include <functional>

#include "argand/core/cpu_generator.h"
#include "argand/core/cuda_generator.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/ops/random/args.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using Op = std::function<Tensor(const std::optional<Generator>&)>;

// The op as if the GPU had no kernel of it.
template <class Args>
Tensor call_on_cpu(Args args) {
  const auto found = std::find_if(all_ops().begin(), all_ops().end(),
                                  [](const OpInfo* op) { return op->name.c_str() == std::string(Args::kName); });
  OpInfo without_kernel = **found;
  without_kernel.runs_anywhere = false;
  return exec::call(without_kernel, &args)[0];
}

Tensor on_gpu(double value) { return full({64}, value, TensorOptions(kDouble)).cuda(); }

struct NamedOp {
  const char* name;
  Op draw;
};
std::vector<NamedOp> ops() {
  std::vector<NamedOp> all{{"poisson on the CPU",
                            [](const auto& g) {
                              return call_on_cpu(ops::PoissonArgs{on_gpu(50), g});
                            }},
                           {"gamma on the CPU", [](const auto& g) {
                              return call_on_cpu(ops::StandardGammaArgs{on_gpu(3), g});
                            }}};
  if (cuda::get_device_name() == "dry run") return all;
  all.push_back({"poisson", [](const auto& g) { return poisson(on_gpu(50), g); }});
  all.push_back({"binomial", [](const auto& g) { return binomial(on_gpu(1000), on_gpu(0.25), g); }});
  all.push_back({"_standard_gamma", [](const auto& g) { return _standard_gamma(on_gpu(3), g); }});
  all.push_back({"_sample_dirichlet", [](const auto& g) { return _sample_dirichlet(on_gpu(3), g); }});
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

// Many calls do not repeat each other's numbers.
TEST_F(CudaRandom, ManyCallsHaveTheMeanAndVariance) {
  for (const auto& [name, draw] : ops()) {
    if (std::string(name).find("poisson") != 0) continue;
    gpu().set_current_seed(1);
    const Tensor all = zeros({200, 64}, kDouble);
    for (int i = 0; i < 200; ++i) all.select(0, i).copy_(draw({}).cpu());
    const double n = 200.0 * 64;
    EXPECT_NEAR(all.mean().item().toDouble(), 50, 5 * std::sqrt(50 / n)) << name;
    EXPECT_NEAR(all.var().item().toDouble(), 50, 5 * 50 * std::sqrt(2 / n)) << name;
    EXPECT_NEAR(all.mean(1).var().item().toDouble(), 50.0 / 64, 5 * 50.0 / 64 * std::sqrt(2.0 / 200)) << name;
  }
}

class CudaRejection : public ComputingCudaTest {
 protected:
  static constexpr int64_t kCount = 1 << 20;
  static Tensor same(double value) { return full({kCount}, value, TensorOptions(kDouble).device(kCUDA)); }
  // Within five standard errors; `excess` is the kurtosis beyond a normal distribution's.
  static void expect_moments(const Tensor& drawn, double mean, double variance, double excess,
                             const std::string& what) {
    const double n = kCount, slack = 30 * variance / n + 1e-9;  // of the mean's own error in the variance
    EXPECT_NEAR(drawn.mean().item().toDouble(), mean, 5 * std::sqrt(variance / n) + slack) << what;
    EXPECT_NEAR(drawn.var().item().toDouble(), variance, 5 * variance * std::sqrt((2 + excess) / n) + slack) << what;
  }
};

TEST_F(CudaRejection, PoissonHasItsMoments) {
  for (const double rate : {0.0, 0.1, 3.0, 9.9, 10.0, 50.0, 1e4})
    expect_moments(poisson(same(rate)), rate, rate, rate > 0 ? 1 / rate : 0, str("poisson ", rate));
  EXPECT_TRUE(poisson(same(-1)).isnan().all().item().toBool());
}
TEST_F(CudaRejection, GammaHasItsMoments) {
  for (const double shape : {0.1, 0.9, 1.0, 3.0, 1e3})
    expect_moments(_standard_gamma(same(shape)), shape, shape, 6 / shape, str("gamma ", shape));
}
TEST_F(CudaRejection, BinomialHasItsMoments) {
  for (const double count : {1.0, 20.0, 1000.0})
    for (const double p : {0.0, 0.001, 0.3, 0.5, 0.8, 1.0}) {
      const double variance = count * p * (1 - p);
      const double excess = variance > 0 ? (1 - 6 * p * (1 - p)) / variance : 0;
      expect_moments(binomial(same(count), same(p)), count * p, variance, excess, str("binomial ", count, " ", p));
    }
}
TEST_F(CudaRejection, DirichletRowsAreFractions) {
  const Tensor x = _sample_dirichlet(full({100000, 3}, 2.0, TensorOptions(kDouble).device(kCUDA)));
  EXPECT_NEAR(x.sum(-1).sub(1).abs().max().item().toDouble(), 0, 1e-12);
  EXPECT_NEAR(x.select(1, 0).mean().item().toDouble(), 1.0 / 3, 5 * std::sqrt(2.0 / 63 / 1e5));
}
// Neither calls nor neighbours; some of these elements draw more than a call takes numbers for.
TEST_F(CudaRejection, SamplesAreIndependent) {
  gpu().set_current_seed(3);
  const Tensor rate = same(9.9), a = poisson(rate) - 9.9, b = poisson(rate) - 9.9;
  const double error = 5 * 9.9 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR((a * b).mean().item().toDouble(), 0, error);
  EXPECT_NEAR((a.slice(0, 1) * a.slice(0, 0, -1)).mean().item().toDouble(), 0, error);
}

}  // namespace
}  // namespace argand
