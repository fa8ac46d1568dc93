#include "argand/kernels/cpu/true_positions.h"

#include <gtest/gtest.h>

#include <vector>

namespace argand::cpu {
namespace {

std::vector<int64_t> positions(const std::vector<uint8_t>& mask, int64_t n) {
  std::vector<int64_t> out;
  int calls = 0;
  true_positions(mask.data(), n, [&](int64_t count) {
    ++calls;
    out.resize(static_cast<size_t>(count));
    return out.data();
  });
  EXPECT_EQ(calls, 1);
  return out;
}

TEST(TruePositions, FromTheFirstToTheLast) {
  const std::vector<uint8_t> mask{1, 0, 1, 1, 0, 1, 1};  // the last two lie beyond, or at, the end
  EXPECT_EQ(positions(mask, 7), (std::vector<int64_t>{0, 2, 3, 5, 6}));
  EXPECT_EQ(positions(mask, 6), (std::vector<int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(positions(mask, 5), (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(positions(mask, 0), std::vector<int64_t>{});
}

}  // namespace
}  // namespace argand::cpu
