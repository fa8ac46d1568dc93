#include "argand/core/float32_precision.h"

#include <gtest/gtest.h>

#include "argand/base/error.h"

namespace argand {
namespace {

TEST(Float32Precision, OneNameForBothSwitches) {
  EXPECT_EQ(get_float32_precision(), "default");
  EXPECT_TRUE(allow_tf32_cudnn());
  EXPECT_FALSE(allow_tf32_matmul());
  set_float32_precision("fast");
  EXPECT_TRUE(allow_tf32_cudnn() && allow_tf32_matmul());
  set_allow_tf32_cudnn(false);
  EXPECT_EQ(get_float32_precision(), "other");
  set_float32_precision("exact");
  EXPECT_FALSE(allow_tf32_cudnn() || allow_tf32_matmul());
  EXPECT_EQ(get_float32_precision(), "exact");
  EXPECT_THROW(set_float32_precision("highest"), ValueError);
  EXPECT_EQ(get_float32_precision(), "exact");
  set_float32_precision("default");
}

}  // namespace
}  // namespace argand
