#include "argand/kernels/cpu/random_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "argand/core/mt19937.h"

namespace argand::cpu {
namespace {

std::vector<uint32_t> draws(size_t n) {
  std::vector<uint32_t> out(n);
  Mt19937(21).fill(out.data(), n);
  return out;
}

template <class T>
void expect_same_uniform(T from, T to, size_t n) {
  const std::vector<uint32_t> d = draws(2 * n);
  std::vector<T> chosen(n), portable(n);
  to_uniform(d.data(), n, Interval<T>{from, to}, chosen.data());
  portable::to_uniform(d.data(), n, Interval<T>{from, to}, portable.data());
  EXPECT_EQ(chosen, portable) << from << " " << to;
  for (T x : chosen) ASSERT_TRUE(x >= from && x < to) << x;
}

TEST(RandomBlocks, UniformIsTheSameOnPlainProcessors) {
  expect_same_uniform(0.0f, 1.0f, 100003);
  expect_same_uniform(-0.37f, 1.21f, 100003);
  expect_same_uniform(1000.0f, 1001.0f, 100003);
  expect_same_uniform(0.0, 1.0, 100003);
  expect_same_uniform(-0.37, 1.21, 100003);
}

TEST(RandomBlocks, NormalIsTheSameOnPlainProcessors) {
  constexpr size_t kBlocks = 5000;
  const std::vector<uint32_t> d = draws(16 * kBlocks);
  std::vector<float> chosen(d.size());
  to_uniform(d.data(), d.size(), Interval<float>{0.0f, 1.0f}, chosen.data());
  std::vector<float> portable = chosen;
  to_normal(chosen.data(), kBlocks, 0.3f, 1.7f);
  portable::to_normal(portable.data(), kBlocks, 0.3f, 1.7f);
  EXPECT_EQ(chosen, portable);
}

// Against the C library in double, over all octants of the angle and down to the smallest radius and beyond the usual.
TEST(RandomBlocks, NormalIsBoxMuller) {
  for (float u1 : {0.0f, 0x1p-24f, 0.1f, 0.29f, 0.3f, 0.5f, 0.9f, 0.9999999f, 1 - 0x1p-24f}) {
    for (float u2 = 0; u2 < 1; u2 += 0.013f) {
      float block[16] = {};
      for (int j = 0; j < 8; ++j) block[j] = u1, block[j + 8] = u2;
      to_normal(block, 1, 0.0f, 1.0f);
      const double radius = std::sqrt(-2.0 * std::log(1.0 - static_cast<double>(u1)));
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(u2);
      const double tolerance = 1e-6 * std::max(radius, 1e-30);
      for (int j = 0; j < 8; ++j) {
        ASSERT_NEAR(block[j], radius * std::cos(angle), tolerance) << u1 << " " << u2;
        ASSERT_NEAR(block[j + 8], radius * std::sin(angle), tolerance) << u1 << " " << u2;
      }
    }
  }
}

}  // namespace
}  // namespace argand::cpu
