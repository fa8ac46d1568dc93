// Upsample and interpolate, Fold and Unfold, PixelShuffle and its kin.
#include "argand/nn/functional/upsampling.h"
#include "argand/nn/modules/fold.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/pixelshuffle.h"
#include "argand/nn/modules/recorded_test.h"
#include "argand/nn/modules/upsampling.h"

namespace argand::nn {
namespace {

using Factors = std::vector<double>;
using Size = std::vector<int64_t>;
using Interpolate = functional::InterpolateFuncOptions;

template <class Make>
void expect_layer(const std::string& name, Make make) {
  expect_as_recorded(name, make, [](auto& m, Recorded& in) { return std::vector<Tensor>{m(in["x"])}; });
}

void expect_interpolate(const std::string& name, const Interpolate& options) {
  expect_as_recorded(
      name, [] { return Identity(); },
      [&](Identity&, Recorded& in) { return std::vector<Tensor>{functional::interpolate(in["x"], options)}; });
}

TEST(Upsample, AsPyTorch) {
  expect_layer("upsample_bicubic", [] {
    return Upsample(UpsampleOptions().scale_factor(Factors{1.5, 2.5}).mode(kBicubic).align_corners(false));
  });
  expect_layer("upsample_nearest", [] { return Upsample(UpsampleOptions().size(Size{2, 5})); });
}

TEST(Interpolate, AsPyTorch) {
  expect_interpolate("interpolate_area", Interpolate().size(Size{2}).mode(kArea));
  expect_interpolate("interpolate_recomputed",
                     Interpolate().scale_factor(Factors{1.7}).mode(kLinear).recompute_scale_factor(true));
  expect_interpolate("interpolate_antialias", Interpolate().size(Size{2, 2}).mode(kBilinear).antialias(true));
}

TEST(Interpolate, BadArguments) {
  const Tensor image = zeros({1, 1, 2, 2});
  EXPECT_ERROR(ValueError, "either size or scale_factor should be defined", functional::interpolate(image));
  EXPECT_ERROR(ValueError, "only one of size or scale_factor should be defined",
               functional::interpolate(image, Interpolate().size(Size{2}).scale_factor(Factors{2})));
  EXPECT_ERROR(ShapeError, "scale_factor shape must match input shape. Input is 2D, scale_factor size is [2, 2, 2]",
               functional::interpolate(image, Interpolate().scale_factor(Factors{2, 2, 2})));
  EXPECT_ERROR(ValueError, "align_corners option can only be set with the interpolating modes",
               functional::interpolate(image, Interpolate().size(Size{2}).align_corners(true)));
  EXPECT_ERROR(ShapeError, "Got 4D input, but kTrilinear mode needs 5D input",
               functional::interpolate(image, Interpolate().size(Size{2}).mode(kTrilinear)));
  EXPECT_ERROR(ShapeError, "Only 3D, 4D and 5D input Tensors supported (got 2D)",
               functional::interpolate(zeros({2, 2}), Interpolate().size(Size{2})));
  EXPECT_ERROR(ValueError, "expected finite positive scale factors",
               functional::interpolate(image, Interpolate().scale_factor(Factors{-1})));
}

TEST(Fold, AsPyTorch) {
  expect_layer("unfold", [] { return Unfold(UnfoldOptions({2, 2}).dilation({1, 2}).padding(1).stride({2, 1})); });
  expect_layer("fold", [] { return Fold(FoldOptions({3, 4}, 2)); });
}

TEST(PixelShuffle, AsPyTorch) {
  expect_layer("pixel_shuffle", [] { return PixelShuffle(2); });
  expect_layer("pixel_unshuffle", [] { return PixelUnshuffle(2); });
  expect_layer("channel_shuffle", [] { return ChannelShuffle(2); });
}

TEST(Resampling, IsPrintedAsLibTorchDoes) {
  EXPECT_EQ(printed(*Upsample(UpsampleOptions().scale_factor(Factors{1.5, 2}).mode(kBicubic))),
            "torch::nn::Upsample(scale_factor=[1.5, 2], mode=kBicubic)");
  EXPECT_EQ(printed(*Upsample(UpsampleOptions().size(Size{2, 5}))), "torch::nn::Upsample(size=[2, 5], mode=kNearest)");
  EXPECT_EQ(printed(*Fold(FoldOptions({3, 4}, 2))),
            "torch::nn::Fold(output_size=[3, 4], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  EXPECT_EQ(printed(*Unfold(2)),
            "torch::nn::Unfold(kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1])");
  EXPECT_EQ(printed(*PixelShuffle(3)), "torch::nn::PixelShuffle(upscale_factor=3)");
}

}  // namespace
}  // namespace argand::nn
