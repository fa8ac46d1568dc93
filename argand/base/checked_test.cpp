#include "argand/base/checked.h"

#include <gtest/gtest.h>

#include <limits>

namespace argand {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const ValueError& e) {
    return e.what();
  }
  return "nothing thrown";
}

TEST(CheckedSize, ComputesUpToTheLimits) {
  EXPECT_EQ(CheckedSize(3, "op").add(4).mul(5).sub(6).value(), 29);
  EXPECT_EQ(CheckedSize(kMax - 1, "op").add(1).value(), kMax);
  EXPECT_EQ(CheckedSize(kMin + 1, "op").sub(1).value(), kMin);
  EXPECT_EQ(CheckedSize(int64_t{1} << 31, "op").mul(int64_t{1} << 31).value(), int64_t{1} << 62);
  EXPECT_EQ(CheckedSize(kMax, "op").mul(0).value(), 0);
}

TEST(CheckedSize, OverflowThrowsAndNamesTheOp) {
  EXPECT_EQ(message_of([] { CheckedSize(kMax, "cat").add(1); }),
            "cat: size 9223372036854775807 + 1 does not fit in 64 bits");
  EXPECT_EQ(message_of([] { CheckedSize(kMin, "pad").sub(1); }),
            "pad: size -9223372036854775808 - 1 does not fit in 64 bits");
  EXPECT_EQ(message_of([] { CheckedSize(int64_t{1} << 32, "empty").mul(int64_t{1} << 31); }),
            "empty: size 4294967296 * 2147483648 does not fit in 64 bits");
  EXPECT_THROW(CheckedSize(kMin, "op").mul(-1), ValueError);
}

TEST(CheckedNumel, Products) {
  EXPECT_EQ(checked_numel({}, "op"), 1);
  EXPECT_EQ(checked_numel({2, 3, 4}, "op"), 24);
  EXPECT_EQ(checked_numel({int64_t{1} << 62, int64_t{1} << 62, 0}, "op"), 0);
}

TEST(CheckedNumel, Errors) {
  EXPECT_EQ(message_of([] { checked_numel({2, -1}, "zeros"); }), "zeros: expected sizes of at least 0, got [2, -1]");
  EXPECT_EQ(message_of([] { checked_numel({0, -1}, "zeros"); }), "zeros: expected sizes of at least 0, got [0, -1]");
  EXPECT_EQ(message_of([] {
              checked_numel({4294967296, 4294967296}, "zeros");
            }),
            "zeros: the number of elements of sizes [4294967296, 4294967296] does not fit in 64 bits");
}

}  // namespace
}  // namespace argand
