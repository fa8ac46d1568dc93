#include "argand/nn/modules/unpooling.h"

#include "argand/nn/functional/unpooling.h"
#include "argand/nn/modules/pooling.h"
#include "argand/nn/modules/recorded_test.h"

namespace argand::nn {
namespace {

// The layer of what `pool` gives for the recorded input.
template <class Layer, class Pool>
std::vector<Tensor> unpooled(Layer& m, Pool pool, const Tensor& x,
                             const std::optional<std::vector<int64_t>>& size = std::nullopt) {
  const auto [y, at] = pool->forward_with_indices(x);
  return {m(y, at, size)};
}

TEST(MaxUnpool, AsPyTorch) {
  expect_as_recorded(
      "max_unpool1d", [] { return MaxUnpool1d(2); },
      [](MaxUnpool1d& m, Recorded& in) { return unpooled(m, MaxPool1d(2), in["x"]); });
  expect_as_recorded(
      "max_unpool2d", [] { return MaxUnpool2d(2); },
      [](MaxUnpool2d& m, Recorded& in) {
        return unpooled(m, MaxPool2d(2), in["x"], std::vector<int64_t>{5, 4});
      });
  expect_as_recorded(
      "max_unpool3d", [] { return MaxUnpool3d(2); },
      [](MaxUnpool3d& m, Recorded& in) { return unpooled(m, MaxPool3d(2), in["x"]); });
}

TEST(MaxUnpool, BadArguments) {
  const Tensor x = zeros({1, 1, 2, 2}), at = zeros({1, 1, 2, 2}, kLong);
  MaxUnpool2d m(2);
  EXPECT_ERROR(ValueError, "invalid output_size [6, 4] (dim 0 must be between 2 and 6)",
               m(x, at, std::vector<int64_t>{6, 4}));
  EXPECT_ERROR(ValueError, "output_size should be a sequence containing 2 or 4 elements",
               m(x, at, std::vector<int64_t>{4}));
  EXPECT_ERROR(IndexError, "out of bounds", m(x, at + 16));
  EXPECT_EQ(printed(*m), "torch::nn::MaxUnpool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0])");
}

TEST(FractionalMaxPool, AsPyTorch) {
  using Ratios = FractionalMaxPool2dOptions::Ratios;
  expect_as_recorded(
      "fractional_max_pool2d",
      [] {
        return FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_ratio(Ratios({0.6, 0.5})));
      },
      [](FractionalMaxPool2d& m, Recorded& in) {
        const auto [y, at] = m->forward_with_indices(in["x"]);
        return std::vector<Tensor>{y, at};
      });
  expect_as_recorded(
      "fractional_max_pool3d",
      [] {
        return FractionalMaxPool3d(FractionalMaxPool3dOptions(2).output_size(ExpandingArray<3>({2, 1, 2})));
      },
      [](FractionalMaxPool3d& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
}

TEST(FractionalMaxPool, BadArguments) {
  EXPECT_ERROR(ValueError, "FractionalMaxPool2d requires specifying either an output size, or a pooling ratio",
               FractionalMaxPool2d(2));
  EXPECT_ERROR(
      ValueError, "output_ratio must be between 0 and 1 (got 1.5)",
      FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_ratio(FractionalMaxPool2dOptions::Ratios(1.5))));
  EXPECT_ERROR(ShapeError, "too large relative to input",
               FractionalMaxPool2d(FractionalMaxPool2dOptions(2).output_size(ExpandingArray<2>(4)))(zeros({1, 4, 4})));
}

}  // namespace
}  // namespace argand::nn
