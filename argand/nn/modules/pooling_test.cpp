#include "argand/nn/modules/pooling.h"

#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// x = pattern([1, 1, 4, 4])
const Tensor& input() {
  static const Tensor& x = *new Tensor(pattern({1, 1, 4, 4}));
  return x;
}

// nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True)(x)
TEST(Pooling, Max) {
  MaxPool2d m(MaxPool2dOptions(3).stride(2).padding(1).ceil_mode(true));
  expect_values("y", m(input()), {0.25, 1, 1, 0.5, 1, 0, 0.25, 1, 0});
  const auto [values, indices] = m->forward_with_indices(input());
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(values.flatten()[i].item().toDouble(),
              input().flatten()[indices.flatten()[i].item<int64_t>()].item().toDouble());
}

// nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False)(x)
TEST(Pooling, Mean) {
  AvgPool2d m(AvgPool2dOptions(3).stride(2).padding(1).count_include_pad(false));
  expect_values("y", m(input()), {-0.5625, 0, -0.375, -0.194444444444444});
  EXPECT_EQ(AvgPool1d(2)(pattern({1, 6})).size(1), 3);  // the stride is the kernel size
}

// nn.AdaptiveAvgPool2d((3, None))(x), nn.AdaptiveMaxPool2d((2, 3))(x)
TEST(Pooling, Adaptive) {
  expect_values("mean", AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({3, std::nullopt}))(input()),
                {-0.75, -0.375, 0, 0.375, -0.625, -0.25, 0.125, -0.875, -0.5, -0.125, 0.25, -0.75});
  expect_values("max", AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({2, 3}))(input()), {0.25, 0.75, 1, 0.5, 1, 1});
}

// nn.LPPool2d(3, 2)(x.abs())
TEST(Pooling, Norm) {
  expect_values("y", LPPool2d(LPPool2dOptions(3, 2))(input().abs()),
                {1.63747790502984, 1.22967118361468, 1.3600304563537, 1.65096362444731});
}

}  // namespace
}  // namespace argand::nn
