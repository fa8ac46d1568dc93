// Against std::stable_sort with the order that sort.h promises.
#include "argand/kernels/cpu/sort.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "argand/core/dispatch.h"

namespace argand::cpu {
namespace {

// Few different values, so that many are equal; with NaN, both zeros and infinities where T has them.
template <class T>
std::vector<T> made_up(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> out;
  for (int64_t i = 0; i < n; ++i) {
    const int v = static_cast<int>(random() % 61) - 30;
    if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
      out.push_back(static_cast<T>(std::abs(v) % (std::is_same_v<T, bool> ? 2 : 60)));
    } else if constexpr (std::is_integral_v<T>) {
      out.push_back(static_cast<T>(v == 30    ? std::numeric_limits<T>::max()
                                   : v == -30 ? std::numeric_limits<T>::min()
                                              : v));
    } else {
      const float x = v == 30    ? INFINITY
                      : v == 29  ? NAN
                      : v == 28  ? -0.0f
                      : v == 27  ? -NAN
                      : v == -30 ? -INFINITY
                                 : static_cast<float>(v) / 4;
      out.push_back(T(x));
    }
  }
  return out;
}

template <class T>
bool less(T x, T y) {
  const auto a = static_cast<op_math_t<T>>(x), b = static_cast<op_math_t<T>>(y);
  return a < b || (b != b && a == a);
}

template <class T>
std::vector<int64_t> expected_order(const std::vector<T>& row, bool descending) {
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    const T x = row[static_cast<size_t>(i)], y = row[static_cast<size_t>(j)];
    return descending ? less(y, x) : less(x, y);
  });
  return order;
}

template <class T>
struct Block {
  int64_t outer, n, inner;
  std::vector<T> values = made_up<T>(outer * n * inner, static_cast<unsigned>(n));
  std::unique_ptr<T[]> data = copy(values);
  SortRows rows() const { return {data.get(), scalar_type_v<T>, outer, n, inner}; }
  static std::unique_ptr<T[]> copy(const std::vector<T>& from) {
    auto out = std::make_unique<T[]>(from.size());
    std::copy(from.begin(), from.end(), out.get());
    return out;
  }
  std::vector<T> row(int64_t o, int64_t i) const {
    std::vector<T> out;
    for (int64_t j = 0; j < n; ++j) out.push_back(values[static_cast<size_t>((o * n + j) * inner + i)]);
    return out;
  }
};

template <class T>
class SortOf : public testing::Test {};
using Types = testing::Types<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, int32_t, int64_t, bool>;
TYPED_TEST_SUITE(SortOf, Types);

TYPED_TEST(SortOf, FirstFew) {
  // Below and above the length where counting by bytes starts; one column, a few, and more than are read together.
  for (const auto& [outer, n, inner] :
       {std::tuple(3, 7, 1), std::tuple(2, 700, 1), std::tuple(2, 60, 19), std::tuple(1, 520, 3)})
    for (const bool descending : {false, true})
      for (const int64_t count : {int64_t{1}, n / 10 + int64_t{1}, n / 2 + int64_t{1}, int64_t{n}}) {
        const Block<TypeParam> block{outer, n, inner};
        std::vector<int64_t> indices(static_cast<size_t>(outer * count * inner));
        auto values = std::make_unique<TypeParam[]>(indices.size());
        sort_first(block.rows(), count, descending, values.get(), indices.data());
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i) {
            const std::vector<TypeParam> row = block.row(o, i);
            const std::vector<int64_t> order = expected_order(row, descending);
            for (int64_t j = 0; j < count; ++j) {
              const auto at = static_cast<size_t>((o * count + j) * inner + i);
              ASSERT_EQ(indices[at], order[static_cast<size_t>(j)]) << "n " << n << " count " << count << " j " << j;
              const TypeParam want = row[static_cast<size_t>(indices[at])];
              ASSERT_EQ(std::memcmp(&values[at], &want, sizeof want), 0);
            }
          }
      }
}

TYPED_TEST(SortOf, PicksByRank) {
  for (const int64_t n : {1, 8, 601}) {
    const Block<TypeParam> block{2, n, 3};
    for (const int64_t nth : {int64_t{0}, n / 2, n - 1}) {
      std::vector<int64_t> indices(6);
      TypeParam values[6];
      pick(block.rows(), Pick::kNth, nth, values, indices.data());
      for (int64_t r = 0; r < 6; ++r)
        ASSERT_EQ(indices[static_cast<size_t>(r)],
                  expected_order(block.row(r / 3, r % 3), false)[static_cast<size_t>(nth)]);
    }
  }
}

std::pair<float, int64_t> picked(Pick what, const std::vector<float>& row) {
  float value = 0;
  int64_t index = -1;
  pick({row.data(), kFloat, 1, static_cast<int64_t>(row.size()), 1}, what, 0, &value, &index);
  return {value, index};
}

TEST(Pick, Medians) {
  EXPECT_EQ(picked(Pick::kMedian, {4, 1, 3, 2}), std::pair(2.0f, int64_t{3}));
  EXPECT_EQ(picked(Pick::kMedian, {4, NAN, 3, NAN}).second, 1);
  EXPECT_EQ(picked(Pick::kNanMedian, {4, NAN, 3, NAN}), std::pair(3.0f, int64_t{2}));
  EXPECT_EQ(picked(Pick::kNanMedian, {NAN, NAN}).second, 0);
}

TEST(Pick, ModeIsTheSmallestOfTheMostFrequent) {
  EXPECT_EQ(picked(Pick::kMode, {3, 2, 3, 2, 5}), std::pair(2.0f, int64_t{3}));
  EXPECT_EQ(picked(Pick::kMode, {NAN, NAN, 7}), std::pair(7.0f, int64_t{2}));  // NaN equals nothing
  EXPECT_EQ(picked(Pick::kMode, {1}), std::pair(1.0f, int64_t{0}));
}

}  // namespace
}  // namespace argand::cpu
