#include "argand/nn/functional/activation.h"
#include "argand/nn/modules/activation.h"
#include "argand/nn/modules/recorded_test.h"

namespace argand::nn {
namespace {

TEST(RReLU, AsPyTorch) {
  expect_as_recorded(
      "rrelu", [] { return RReLU(RReLUOptions().lower(0.1).upper(0.4)); },
      [](RReLU& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
  EXPECT_EQ(printed(*RReLU()), "torch::nn::RReLU(lower=0.125, upper=0.333333)");
}

TEST(RReLU, InPlaceAndOutsideTraining) {
  RReLU m(RReLUOptions().inplace(true));
  m->eval();
  const Tensor x = pattern({6}), leaf = x.clone().requires_grad_(), y = leaf * 1;
  const Tensor out = m(y);
  EXPECT_TRUE(out.is_same(y));
  const double slope = (1.0 / 8 + 1.0 / 3) / 2;
  EXPECT_TRUE(out.allclose(where(x > 0, x, x * slope)));
  out.sum().backward();
  EXPECT_TRUE(leaf.grad().allclose(where(x > 0, ones({6}, kDouble), slope)));
}

}  // namespace
}  // namespace argand::nn
