#include "argand/nn/modules/dropout.h"

#include "argand/core/cpu_generator.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// torch.manual_seed(7), then the expression in the comment.
template <class Layer>
Tensor seeded(Layer layer, const Tensor& x) {
  manual_seed(7);
  return layer(x);
}

TEST(Dropout, DrawsAsPyTorch) {
  constexpr double kUp = 1.66666662693024;
  // nn.Dropout(0.4)(torch.ones(12))
  expect_values("elements", seeded(Dropout(0.4), ones({12})), {kUp, kUp, 0, 0, 0, 0, kUp, kUp, 0, 0, kUp, kUp}, 1e-7);
  // nn.Dropout2d(0.4)(torch.ones(2, 4, 1, 1))
  expect_values("channels", seeded(Dropout2d(0.4), ones({2, 4, 1, 1})), {kUp, kUp, 0, 0, 0, 0, kUp, kUp}, 1e-7);
  // nn.Dropout(0.5)(torch.ones(4, 3).t())
  expect_values("transposed", seeded(Dropout(0.5), ones({4, 3}).t()), {2, 0, 2, 0, 2, 0, 0, 2, 0, 0, 0, 2}, 1e-7);
}

TEST(Dropout, AlphaDrawsAsPyTorch) {
  constexpr double kKept = 1.47037720680237, kLost = -0.910642027854919;
  const std::vector<double> expected{kKept, kKept, kLost, kLost, kLost, kLost, kKept, kKept};
  // nn.AlphaDropout(0.4)(torch.ones(8))
  expect_values("elements", seeded(AlphaDropout(0.4), ones({8})), expected, 1e-6);
  // nn.FeatureAlphaDropout(0.4)(torch.ones(2, 4, 1))
  expect_values("channels", seeded(FeatureAlphaDropout(0.4), ones({2, 4, 1})), expected, 1e-6);
}

TEST(Dropout, ChannelsAreDroppedAsAWhole) {
  const Tensor y = seeded(Dropout2d(0.5), ones({4, 8, 3, 3})).reshape({32, 9});
  const Tensor sums = y.sum(1);
  for (int64_t i = 0; i < 32; ++i) {
    const double s = sums[i].item().toDouble();
    EXPECT_TRUE(s == 0 || s == 18) << s;
  }
}

TEST(Dropout, IsTheIdentityInEval) {
  const Tensor x = pattern({3, 4});
  Dropout m(0.9);
  m->eval();
  EXPECT_TRUE(m(x).is_same(x));
  EXPECT_ERROR(ValueError, "dropout probability has to be between 0 and 1, but got -0.5", Dropout(-0.5));
}

TEST(Dropout, InplaceAndGradient) {
  Tensor x = ones({100});
  const Tensor y = seeded(Dropout(DropoutOptions(0.5).inplace(true)), x);
  EXPECT_TRUE(y.is_same(x));
  const Tensor z = ones({100}).requires_grad_();
  const Tensor out = seeded(Dropout(0.5), z);
  out.sum().backward();
  EXPECT_TRUE(equal(z.grad(), out.detach()));  // of ones: the factors themselves
  EXPECT_TRUE(equal(out.detach(), x));
}

}  // namespace
}  // namespace argand::nn
