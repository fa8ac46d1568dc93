#include "argand/kernels/cpu/check_index.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "argand/base/error.h"

namespace argand::cpu {
namespace {

constexpr int64_t kBound = 5;

std::string refusal(const std::vector<int64_t>& index, bool wrap, int64_t ignore = kNoIgnoredIndex) {
  try {
    check_range("op", index.data(), static_cast<int64_t>(index.size()), kBound, 1, wrap, ignore);
  } catch (const IndexError& e) {
    return e.what();
  }
  return "";
}

std::string out_of_bounds(int64_t index) {
  return "op: index " + std::to_string(index) + " is out of bounds for dimension 1 with size 5";
}

// A bad index is found at any position, and the error names the first.
TEST(CheckIndex, OfEveryPlace) {
  for (size_t place = 0; place < 7; ++place)
    for (const int64_t bad : {int64_t{-6}, kBound, kBound + 1, std::numeric_limits<int64_t>::max()}) {
      for (const bool wrap : {false, true}) {
        std::vector<int64_t> index(7, 1);
        index[place] = bad;
        EXPECT_EQ(refusal(index, wrap), out_of_bounds(bad)) << place;
        EXPECT_EQ(refusal(index, wrap, bad), "") << place;
        if (place + 1 < index.size()) index.back() = 9;
        EXPECT_EQ(refusal(index, wrap), out_of_bounds(bad)) << place;
      }
    }
}

TEST(CheckIndex, TheEndsAreTheLastThatFit) {
  EXPECT_EQ(refusal({0, kBound - 1}, false), "");
  EXPECT_EQ(refusal({-kBound, -1}, true), "");
  EXPECT_EQ(refusal({0, -1}, false), out_of_bounds(-1));
}

// The smallest number, which is NaN as an index, is no exception.
TEST(CheckIndex, TheSmallestNumberIsOutOfBounds) {
  constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
  for (const bool wrap : {false, true}) EXPECT_EQ(refusal({0, kSmallest, 1}, wrap), out_of_bounds(kSmallest));
  EXPECT_EQ(refusal({kSmallest, 2}, true, 2), out_of_bounds(kSmallest));
}

template <class T>
void expect_wrapped(bool is_signed) {
  const std::vector<T> index{0, static_cast<T>(is_signed ? -1 : 1), 4, static_cast<T>(is_signed ? -5 : 3)};
  const std::vector<int64_t> expected = is_signed ? std::vector<int64_t>{0, 4, 4, 0} : std::vector<int64_t>{0, 1, 4, 3};
  std::vector<int64_t> out(5, 77);
  check_index("op", index.data(), scalar_type_v<T>, 4, kBound, 0, true, kNoIgnoredIndex, out.data());
  EXPECT_EQ(std::vector<int64_t>(out.begin(), out.begin() + 4), expected);
  EXPECT_EQ(out[4], 77) << "wrote beyond the end";
  if (!is_signed) return;
  check_index("op", index.data(), scalar_type_v<T>, 4, kBound, 0, true, T(-1), out.data());
  EXPECT_EQ(out[1], -1) << "an ignored index stays as it is";
}

TEST(CheckIndex, ConvertsAndWraps) {
  expect_wrapped<int64_t>(true);
  expect_wrapped<int32_t>(true);
  expect_wrapped<uint8_t>(false);
}

}  // namespace
}  // namespace argand::cpu
