// Autocast around whole computations: gradients, the cache of weights, nesting, threads.  The dtypes of single ops are
// checked in tests/conformance/autocast_test.cpp.
#include "argand/exec/autocast.h"

#include <gtest/gtest.h>

#include <thread>

#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "argand/base/log.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/graph.h"
#include "argand/nn/nn.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/sgd.h"

namespace argand {
namespace {

using autograd::Node;

struct AutocastTest : testing::Test {
  AutocastTest() { manual_seed(7); }
  ~AutocastTest() override {
    EXPECT_FALSE(autocast::is_autocast_enabled(kCPU)) << "a guard left autocast on";
    EXPECT_FALSE(autocast::is_autocast_enabled(kCUDA));
    EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
    EXPECT_TRUE(autocast::is_autocast_cache_enabled());
  }
};

Tensor weight(IntArrayRef sizes) { return randn(sizes).set_requires_grad(true); }

// The node that an argument of the op that made `t` came from.
const Node* origin(const Tensor& t, size_t argument) { return t.grad_fn()->next_edges()[argument].function.get(); }

TEST_F(AutocastTest, IsOffUntilAGuardAndAfterIt) {
  const Tensor a = randn({4, 3}), b = randn({3, 2});
  EXPECT_EQ(a.mm(b).dtype(), kFloat);
  {
    const AutocastGuard guard(kCPU);
    EXPECT_TRUE(autocast::is_autocast_enabled(kCPU));
    EXPECT_EQ(a.mm(b).dtype(), kBFloat16);
    EXPECT_EQ((a + 1).dtype(), kFloat);
  }
  EXPECT_EQ(a.mm(b).dtype(), kFloat);
}

TEST_F(AutocastTest, ValuesAreThoseOfCastOperands) {
  const Tensor x = randn({5, 8}), w = randn({6, 8}), bias = randn({6});
  const Tensor expected = linear(x.to(kBFloat16), w.to(kBFloat16), bias.to(kBFloat16));
  const AutocastGuard guard(kCPU);
  EXPECT_TRUE(linear(x, w, bias).equal(expected));
}

TEST_F(AutocastTest, Float16OnTheCpuWhereAskedFor) {
  const AutocastGuard guard(kCPU, kHalf);
  EXPECT_EQ(randn({4, 3}).mm(randn({3, 2}).to(kBFloat16)).dtype(), kHalf);
}

TEST_F(AutocastTest, OnlyFloatsOfTheDeviceAreCast) {
  const Tensor a = randn({4, 3}), d = randn({4, 3}, kDouble);
  {
    const AutocastGuard guard(kCUDA);
    EXPECT_EQ(a.mm(a.t()).dtype(), kFloat) << "the tensors are on the CPU";
  }
  const AutocastGuard guard(kCPU);
  EXPECT_EQ(d.mm(d.t()).dtype(), kDouble);
  EXPECT_THROW(d.mm(a.t()), DtypeError);
  EXPECT_EQ(mse_loss(d, d).dtype(), kDouble);
}

TEST_F(AutocastTest, InPlaceAndOutFormsKeepTheirDtypes) {
  const Tensor a = randn({3, 3}), b = randn({3, 3});
  const AutocastGuard guard(kCPU);
  Tensor c = zeros({3, 3}), out = zeros({0});
  c.addmm_(a, b);
  mm_out(out, a, b);
  EXPECT_EQ(out.dtype(), kFloat);
  EXPECT_TRUE(c.allclose(out, 1e-5, 1e-6));
  const AutocastGuard off(kCPU, kBFloat16, false);
  EXPECT_TRUE(out.equal(a.mm(b))) << "computed in float32";
}

TEST_F(AutocastTest, AnExplicitDtypeWins) {
  const Tensor x = rand({4}).to(kBFloat16);
  const AutocastGuard guard(kCPU);
  EXPECT_EQ(x.prod().dtype(), kFloat);
  EXPECT_EQ(x.prod(kBFloat16).dtype(), kBFloat16);
}

TEST_F(AutocastTest, GradientsHaveTheDtypesOfTheLeaves) {
  const Tensor w = weight({6, 8}), bias = weight({6}), x = weight({5, 8});
  Tensor y;
  {
    const AutocastGuard guard(kCPU);
    y = linear(x, w, bias);
    EXPECT_EQ(y.dtype(), kBFloat16);
  }
  const Tensor loss = y.to(kFloat).square().sum();
  loss.backward();
  for (const Tensor& t : {w, bias, x}) EXPECT_EQ(t.grad().dtype(), kFloat);
  const Tensor g = (2 * y.to(kFloat)).to(kBFloat16);
  EXPECT_TRUE(w.grad().equal(g.t().mm(x.to(kBFloat16)).to(kFloat)));
}

TEST_F(AutocastTest, BackwardInsideTheRegionComputesTheSame) {
  const Tensor w = weight({6, 8}), x = randn({5, 8});
  const auto gradient = [&](bool inside) {
    std::optional<AutocastGuard> guard(std::in_place, kCPU);
    const Tensor loss = linear(x, w).exp().sum();
    if (!inside) guard.reset();
    return autograd::grad({loss}, {w})[0];
  };
  const Tensor g = gradient(true);
  EXPECT_EQ(g.dtype(), kFloat);
  EXPECT_TRUE(g.equal(gradient(false)));
}

// What a gradient computes with must not be cast once more.
struct ProductInBackward : autograd::Function<ProductInBackward> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx, autograd::variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0];
    EXPECT_FALSE(autocast::is_autocast_enabled(kCPU));
    EXPECT_EQ(x.mm(x.t()).dtype(), kFloat);
    return {grads[0]};
  }
};
TEST_F(AutocastTest, IsOffInBackward) {
  const AutocastGuard guard(kCPU);
  const Tensor x = weight({3, 3});
  ProductInBackward::apply(x).sum().backward();
  EXPECT_TRUE(x.grad().defined());
  EXPECT_TRUE(autocast::is_autocast_enabled(kCPU)) << "and on again";
}

// ---- the cache

TEST_F(AutocastTest, AWeightIsCastOnce) {
  const Tensor w = weight({4, 4}), x = randn({2, 4});
  const AutocastGuard guard(kCPU);
  const Tensor a = linear(x, w), b = linear(x, w);
  EXPECT_EQ(origin(a, 1), origin(b, 1)) << "one node for the cast";
  (a + b).sum().backward();
  EXPECT_EQ(w.grad().dtype(), kFloat);
}

TEST_F(AutocastTest, WithoutTheCacheAWeightIsCastAgain) {
  const Tensor w = weight({4, 4}), x = randn({2, 4});
  const AutocastGuard guard(kCPU, kBFloat16, true, false);
  EXPECT_FALSE(autocast::is_autocast_cache_enabled());
  EXPECT_NE(origin(linear(x, w), 1), origin(linear(x, w), 1));
}

TEST_F(AutocastTest, OnlyLeavesThatRequireGradAreCached) {
  const Tensor w = weight({4, 4}), x = weight({2, 4}), derived = w * 2;
  const AutocastGuard guard(kCPU);
  EXPECT_NE(origin(linear(x, derived), 1), origin(linear(x, derived), 1));
  EXPECT_EQ(origin(linear(x, w), 0), origin(linear(x, w), 0)) << "x is a leaf";
}

TEST_F(AutocastTest, TheCacheLastsUntilTheOutermostGuardEnds) {
  const Tensor w = weight({4, 4}), x = randn({2, 4});
  const uint32_t owners = w.use_count();
  Tensor first;
  {
    const AutocastGuard outer(kCPU);
    {
      const AutocastGuard inner(kCPU);
      first = linear(x, w);
    }
    EXPECT_EQ(origin(first, 1), origin(linear(x, w), 1));
    EXPECT_GT(w.use_count(), owners);
  }
  {
    const AutocastGuard later(kCPU);
    EXPECT_NE(origin(first, 1), origin(linear(x, w), 1));
  }
  first = Tensor();  // its graph owns the leaf
  EXPECT_EQ(w.use_count(), owners) << "nothing is kept";
}

TEST_F(AutocastTest, AWeightThatWasWrittenIsCastAgain) {
  const Tensor w = weight({4, 4}), x = ones({1, 4});
  const AutocastGuard guard(kCPU);
  linear(x, w);
  {
    const NoGradGuard no_grad;
    w.fill_(3);
  }
  EXPECT_EQ(linear(x, w)[0][0].item<float>(), 12);
  w.set_data(zeros({4, 4}));
  EXPECT_EQ(linear(x, w)[0][0].item<float>(), 0);
}

TEST_F(AutocastTest, ACastMadeWithoutGradientsServesNoCallThatRecords) {
  const Tensor w = weight({4, 4}), x = randn({2, 4});
  const AutocastGuard guard(kCPU);
  {
    const NoGradGuard no_grad;
    linear(x, w);
  }
  const Tensor y = linear(x, w);
  ASSERT_TRUE(y.requires_grad());
  y.sum().backward();
  EXPECT_TRUE(w.grad().defined());
}

TEST_F(AutocastTest, NestedDtypesHaveTheirOwnCasts) {
  const Tensor w = weight({4, 4}), x = randn({2, 4});
  const AutocastGuard outer(kCPU);
  EXPECT_EQ(linear(x, w).dtype(), kBFloat16);
  {
    const AutocastGuard inner(kCPU, kHalf);
    EXPECT_EQ(linear(x, w).dtype(), kHalf);
  }
  EXPECT_EQ(linear(x, w).dtype(), kBFloat16);
}

// ---- regions

TEST_F(AutocastTest, ADisabledRegionInsideAnEnabledOne) {
  const Tensor a = randn({3, 3});
  const AutocastGuard on(kCPU);
  const Tensor low = a.mm(a);
  {
    const AutocastGuard off(kCPU, kBFloat16, false);
    EXPECT_EQ(a.mm(a).dtype(), kFloat);
    EXPECT_THROW(a.mm(low), DtypeError);
    const AutocastGuard on_again(kCPU);
    EXPECT_EQ(a.mm(low).dtype(), kBFloat16);
  }
  EXPECT_EQ(a.mm(a).dtype(), kBFloat16);
}

TEST_F(AutocastTest, AnErrorLeavesEverythingAsItWas) {
  const Tensor a = randn({3, 4});
  try {
    const AutocastGuard guard(kCPU, kHalf);
    a.mm(a);
    FAIL() << "no error";
  } catch (const ShapeError&) {
  }
  EXPECT_EQ(a.mm(a.t()).dtype(), kFloat);
  const AutocastGuard guard(kCPU);
  EXPECT_THROW(conv2d(a, a), Error);
  EXPECT_TRUE(autocast::is_autocast_enabled(kCPU)) << "an op that throws puts the switch back";
}

TEST_F(AutocastTest, OtherThreadsAreNotConcerned) {
  const AutocastGuard guard(kCPU);
  std::thread([] {
    EXPECT_FALSE(autocast::is_autocast_enabled(kCPU));
    const Tensor a = randn({3, 3});
    EXPECT_EQ(a.mm(a).dtype(), kFloat);
    const AutocastGuard own(kCPU, kHalf);
    EXPECT_EQ(a.mm(a).dtype(), kHalf);
  }).join();
  EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
}

TEST_F(AutocastTest, TheSwitchesOfOneThread) {
  autocast::set_autocast_enabled(kCPU, true);
  EXPECT_EQ(randn({2, 2}).mm(randn({2, 2})).dtype(), kBFloat16);
  autocast::set_autocast_dtype(kCPU, kHalf);
  EXPECT_EQ(randn({2, 2}).mm(randn({2, 2})).dtype(), kHalf);
  autocast::set_autocast_dtype(kCPU, kBFloat16);
  autocast::set_autocast_enabled(kCPU, false);
  autocast::clear_cache();
  EXPECT_THROW(autocast::set_autocast_dtype(kCPU, kFloat), DtypeError);
  EXPECT_THROW(autocast::set_autocast_enabled(kMeta, true), ValueError);
}

TEST_F(AutocastTest, ADtypeThatIsNotSupportedWarnsAndTurnsItOff) {
  std::string warning;
  const auto before = set_warning_handler([&](std::string_view text) { warning = text; });
  {
    const AutocastGuard guard(kCPU, kFloat);
    EXPECT_FALSE(autocast::is_autocast_enabled(kCPU));
  }
  set_warning_handler(before);
  EXPECT_NE(warning.find("expected dtype float16 or bfloat16, got float32"), std::string::npos) << warning;
}

// ---- training

struct Net : nn::Module {
  Net() {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)));
    norm = register_module("norm", nn::BatchNorm2d(4));
    layer_norm = register_module("layer_norm", nn::LayerNorm(nn::LayerNormOptions({16})));
    hidden = register_module("hidden", nn::Linear(64, 16));
    out = register_module("out", nn::Linear(16, 2));
  }
  Tensor forward(const Tensor& x) {
    const Tensor y = norm->forward(conv->forward(x)).relu();
    return out->forward(layer_norm->forward(hidden->forward(y.flatten(1)).relu()));
  }
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::LayerNorm layer_norm{nullptr};
  nn::Linear hidden{nullptr}, out{nullptr};
};

TEST_F(AutocastTest, ASmallNetworkLearns) {
  Net net;
  optim::SGD optimizer(net.parameters(), optim::SGDOptions(0.05).momentum(0.9));
  const Tensor target = randint(0, 2, {32}, kLong);
  const Tensor x = randn({32, 1, 4, 4}) + target.view({-1, 1, 1, 1});
  double first = 0, last = 0;
  for (int step = 0; step < 30; ++step) {
    optimizer.zero_grad();
    Tensor loss;
    {
      const AutocastGuard guard(kCPU);
      const Tensor logits = net.forward(x);
      EXPECT_EQ(logits.dtype(), kBFloat16);
      loss = cross_entropy_loss(logits, target);
    }
    EXPECT_EQ(loss.dtype(), kFloat);
    loss.backward();
    for (const Tensor& p : net.parameters()) EXPECT_EQ(p.grad().dtype(), kFloat);
    optimizer.step();
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  EXPECT_LT(last, 0.2 * first);
}

}  // namespace
}  // namespace argand
