#include "argand/core/float32_precision.h"
#include "argand/ops/functions.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using PrecisionTest = ComputingCudaTest;  // each test begins with "exact"

// 1 + 2^-12 needs more bits than TF32 has; sums of 256 of them are exact in float32.
constexpr double kFine = 1 + 1.0 / 4096;

TEST_F(PrecisionTest, MatrixProductsAreFloat32UnlessAllowed) {
  if (cuda::get_device_properties().major < 8) GTEST_SKIP() << "this GPU has no TF32";
  const Tensor a = full({256, 256}, kFine, TensorOptions(kCUDA)), b = ones({256, 256}, TensorOptions(kCUDA));
  const auto product = [&] { return a.mm(b).max().item<float>(); };
  EXPECT_EQ(get_float32_matmul_precision(), "highest");
  EXPECT_EQ(product(), 256 * kFine);
  set_float32_matmul_precision("high");
  EXPECT_EQ(product(), 256);
  set_float32_matmul_precision("highest");
  EXPECT_EQ(product(), 256 * kFine);
  EXPECT_NE(message_of<ValueError>([] { set_float32_matmul_precision("exact"); }).find("got \"exact\""),
            std::string::npos);
}

TEST_F(PrecisionTest, ConvolutionsAreFloat32UnlessAllowed) {
  const Tensor x = full({8, 64, 16, 16}, kFine, TensorOptions(kCUDA)), w = ones({64, 64, 2, 2}, TensorOptions(kCUDA));
  const auto convolved = [&] { return conv2d(x, w).max().item<float>(); };
  EXPECT_EQ(convolved(), 256 * kFine);
  for (const char* precision : {"default", "fast"}) {
    set_float32_precision(precision);
    EXPECT_EQ(get_float32_precision(), precision);
    EXPECT_NEAR(convolved(), 256 * kFine, 0.1);
  }
  set_float32_precision("exact");
  EXPECT_EQ(convolved(), 256 * kFine);
}

}  // namespace
}  // namespace argand
