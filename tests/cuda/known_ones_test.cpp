// Note [Known ones]: what is known to be ones, what a backward pass leaves out for that, and what it must not.
#include "argand/exec/known_ones.h"

#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using exec::known_ones;

const TensorOptions kOnGpu = TensorOptions(kFloat).device(kCUDA);

class CudaKnownOnes : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped()) exec::flush();
  }
};

TEST_F(CudaKnownOnes, AreWhatWasFilledWithOnesLast) {
  for (const ScalarType type : {kFloat, kBFloat16, kDouble, kLong, kBool}) {
    const Tensor t = ones({2, 3}, kOnGpu.dtype(type));
    EXPECT_TRUE(known_ones(t)) << str(type);
    EXPECT_TRUE(known_ones(t.detach())) << str(type);
    EXPECT_FALSE(known_ones(t.select(0, 1))) << "a part";
  }
  EXPECT_TRUE(known_ones(full({}, 1.0, kOnGpu)));
  EXPECT_FALSE(known_ones(full({}, 2, kOnGpu)));
  EXPECT_FALSE(known_ones(full({}, 1 + 1e-9, kOnGpu))) << "it would have to be rounded first";
  EXPECT_FALSE(known_ones(empty({3}, kOnGpu)));
  EXPECT_FALSE(known_ones(ones({3}))) << "a tensor of the CPU";
}

TEST_F(CudaKnownOnes, AreNotWhatWasWrittenSince) {
  const Tensor t = ones({4}, kOnGpu);
  t.add_(1);
  EXPECT_FALSE(known_ones(t));
  t.fill_(1);
  EXPECT_TRUE(known_ones(t));
  t.slice(0, 1, 2).zero_();
  EXPECT_FALSE(known_ones(t));
  const Tensor given = full({}, 1.0);
  t.copy_(given);
  EXPECT_TRUE(known_ones(t));
  given.fill_(3);
  EXPECT_FALSE(known_ones(t)) << "the copy was issued before the number changed";
}

TEST_F(CudaKnownOnes, AreNotLookedForElsewhere) {
  const Tensor t = ones({4}, kOnGpu);
  exec::flush();
  EXPECT_FALSE(known_ones(t)) << "issued";
  exec::set_window_mode(exec::WindowMode::kEager);
  EXPECT_FALSE(known_ones(ones({4}, kOnGpu)));
  exec::set_window_mode(exec::WindowMode::kAuto);
}

// No pointwise kernel runs for the gradient of a loss.
TEST_F(CudaKnownOnes, LossesNeedNoGradientOfTheirOwn) {
  const Tensor x = zeros({8, 10}, kOnGpu).requires_grad_(), y = ones({8, 10}, kOnGpu);
  const Tensor classes = zeros({8}, kOnGpu.dtype(kLong));
  for (int loss = 0; loss < 4; ++loss) {
    const Tensor l = loss == 0   ? mse_loss(x, y)
                     : loss == 1 ? l1_loss(x, y, Reduction::Sum)
                     : loss == 2 ? smooth_l1_loss(x, y)
                                 : cross_entropy_loss(x, classes);
    exec::flush();
    const exec::WindowStats before = exec::window_stats();
    l.backward();
    exec::flush();
    const exec::WindowStats after = exec::window_stats();
    EXPECT_EQ(after.groups - before.groups, 0U) << loss;
    EXPECT_EQ(after.elided - before.elided, 1U) << loss;
    EXPECT_TRUE(x.grad().defined());
    x.mutable_grad() = Tensor();
  }
}

class CudaRootGradient : public ComputingCudaTest {
 protected:
  // The gradients of x for a loss that `prepare` has seen.
  template <class F>
  static std::vector<Tensor> gradients(F prepare, bool create_graph = false) {
    const Tensor start = linspace(-1, 1, 60).reshape({6, 10}), target = arange(6);
    std::vector<Tensor> out;
    for (const bool on_gpu : {false, true})
      for (const bool classes : {false, true}) {
        const Tensor x = (on_gpu ? start.cuda() : start.clone()).requires_grad_();
        const Tensor y = classes ? target : start * 0.5;
        const Tensor there = on_gpu ? y.cuda() : y;
        Tensor loss = classes ? cross_entropy_loss(x, there) : mse_loss(x, there);
        prepare(loss);
        loss.backward({}, create_graph, create_graph);
        out.push_back(x.grad().detach().cpu());
      }
    return out;
  }
  static void expect_equal_on_both(const std::vector<Tensor>& g) {
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(g[i + 2], g[i], 1e-5, 1e-8)) << i;
  }
};

TEST_F(CudaRootGradient, ReachesHooksThatKeepOrChangeIt) {
  const std::vector<Tensor> plain = gradients([](Tensor&) {});
  expect_equal_on_both(plain);
  std::vector<Tensor> kept;
  expect_equal_on_both(gradients([&](Tensor& loss) {
    loss.register_hook([&](Tensor g) {
      kept.push_back(g);
      return Tensor();
    });
  }));
  for (const Tensor& g : kept) EXPECT_EQ(g.item<float>(), 1);
  const std::vector<Tensor> replaced =
      gradients([](Tensor& loss) { loss.register_hook([](Tensor g) { return g * 3; }); });
  const std::vector<Tensor> written = gradients([](Tensor& loss) {
    loss.register_hook([](Tensor g) {
      g.mul_(3);
      return Tensor();
    });
  });
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(allclose(replaced[i], plain[i] * 3, 1e-6, 1e-8)) << i;
    EXPECT_TRUE(allclose(written[i], plain[i] * 3, 1e-6, 1e-8)) << i;
  }
}

TEST_F(CudaRootGradient, IsKeptByRetainGradAndByGraphs) {
  std::vector<Tensor> losses;
  expect_equal_on_both(gradients([&](Tensor& loss) {
    loss.retain_grad();
    losses.push_back(loss);
  }));
  for (const Tensor& loss : losses) EXPECT_EQ(loss.grad().item<float>(), 1);
  expect_equal_on_both(gradients([](Tensor&) {}, true));
}

}  // namespace
}  // namespace argand
