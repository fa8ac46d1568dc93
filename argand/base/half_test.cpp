// Exhaustive over the 65536 patterns of each type; oracles: the compiler's _Float16 conversions and double arithmetic.
#include "argand/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "argand/base/bfloat16.h"
#include "argand/base/half_convert.h"

namespace argand {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// The value of a pattern by the definition of the format.
double value_by_definition(unsigned pattern, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int fraction = static_cast<int>(pattern & ((1u << fraction_bits) - 1));
  const int exponent = static_cast<int>((pattern >> fraction_bits) & ((1u << exponent_bits) - 1));
  const double sign = pattern >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int exponent_bits = 5, fraction_bits = 10;
};
template <>
struct Format<BFloat16> {
  static constexpr int exponent_bits = 8, fraction_bits = 7;
};

template <class T>
class ReducedFloatTest : public testing::Test {
 public:
  static T pattern(unsigned b) { return T(static_cast<uint16_t>(b), from_bits); }
  static double expected(unsigned b) {
    return value_by_definition(b, Format<T>::exponent_bits, Format<T>::fraction_bits);
  }
};
using Types = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(ReducedFloatTest, Types);

TYPED_TEST(ReducedFloatTest, EveryPatternToFloatAndBack) {
  for (unsigned b = 0; b < 65536; ++b) {
    const float f = this->pattern(b);
    const double expected = this->expected(b);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(f)) << b;
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(f)))) << b;
      ASSERT_EQ(TypeParam(f).x >> 15, b >> 15) << b;
    } else {
      ASSERT_EQ(static_cast<double>(f), expected) << b;
      ASSERT_EQ(std::signbit(f), b >> 15 == 1) << b;
      ASSERT_EQ(TypeParam(f).x, b);
    }
  }
}

// Between neighbours a < b: below the midpoint gives a, above gives b, the midpoint gives the even one.
TYPED_TEST(ReducedFloatTest, RoundsToNearestEvenBetweenAllNeighbours) {
  const unsigned max = std::numeric_limits<TypeParam>::max().x;
  for (unsigned b = 0; b <= max; ++b) {
    const double low = this->expected(b);
    const double high = b == max ? 2 * low - this->expected(b - 1) : this->expected(b + 1);
    const float mid = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(mid), (low + high) / 2);
    for (float sign : {1.0f, -1.0f}) {
      const unsigned sign_bit = sign < 0 ? 0x8000u : 0u;
      ASSERT_EQ(TypeParam(sign * mid).x, (b + (b & 1)) | sign_bit) << b;
      ASSERT_EQ(TypeParam(sign * std::nextafter(mid, -kInf)).x, b | sign_bit) << b;
      ASSERT_EQ(TypeParam(sign * std::nextafter(mid, kInf)).x, (b + 1) | sign_bit) << b;
    }
  }
}

TYPED_TEST(ReducedFloatTest, OverflowAndUnderflow) {
  EXPECT_EQ(TypeParam(kInf).x, std::numeric_limits<TypeParam>::infinity().x);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).x, std::numeric_limits<TypeParam>::infinity().x);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::denorm_min()).x, 0);
  EXPECT_EQ(TypeParam(-std::numeric_limits<float>::denorm_min()).x, 0x8000);
}

TYPED_TEST(ReducedFloatTest, Limits) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(static_cast<float>(Limits::epsilon()), std::ldexp(1.0f, 1 - Limits::digits));
  EXPECT_EQ(static_cast<float>(Limits::min()), std::ldexp(1.0f, Limits::min_exponent - 1));
  EXPECT_EQ(static_cast<float>(Limits::max()), std::ldexp(2.0f - Limits::epsilon(), Limits::max_exponent - 1));
  EXPECT_EQ(Limits::lowest().x, (-Limits::max()).x);
  EXPECT_EQ(static_cast<float>(Limits::denorm_min()),
            std::ldexp(static_cast<float>(Limits::min()), 1 - Limits::digits));
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  EXPECT_TRUE(std::isnan(static_cast<float>(Limits::signaling_NaN())));
  EXPECT_EQ(static_cast<float>(Limits::infinity()), kInf);
  EXPECT_EQ(static_cast<float>(Limits::round_error()), 0.5f);
}

TYPED_TEST(ReducedFloatTest, ArithmeticRoundsTheExactResult) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const TypeParam a = this->pattern(random() & 0xffff), b = this->pattern(random() & 0xffff);
    const double x = static_cast<float>(a), y = static_cast<float>(b);
    if (std::isnan(x) || std::isnan(y)) continue;
    // The nearest: no neighbour of the result is closer to the (double) value.
    const auto check = [&](TypeParam got, double exact) {
      const double value = static_cast<float>(got);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(value));
      } else if (std::isinf(value)) {
        EXPECT_GT(exact * value, 0.0);
        EXPECT_GT(std::abs(exact), static_cast<double>(std::numeric_limits<TypeParam>::max()));
      } else {
        for (int step : {-1, 1}) {
          const double other = static_cast<float>(this->pattern(static_cast<unsigned>(got.x + step) & 0xffff));
          if (std::isfinite(other)) {
            EXPECT_LE(std::abs(value - exact), std::abs(other - exact));
          }
        }
      }
    };
    check(a + b, x + y);
    check(a - b, x - y);
    check(a * b, x * y);
    check(a / b, x / y);
  }
}

TYPED_TEST(ReducedFloatTest, OperatorsMixWithOtherNumbers) {
  TypeParam a = 1.5f;
  static_assert(std::is_same_v<decltype(a + a), TypeParam>);
  static_assert(std::is_same_v<decltype(a + 1.0f), float>);
  static_assert(std::is_same_v<decltype(a + 1.0), double>);
  static_assert(static_cast<float>(TypeParam(2.0f) * TypeParam(3.0f)) == 6.0f);  // usable in constant expressions
  static_assert(std::is_trivially_copyable_v<TypeParam> && sizeof(TypeParam) == 2);
  EXPECT_EQ(static_cast<float>(-a), -1.5f);
  EXPECT_EQ(a + 1, 2.5f);
  EXPECT_TRUE(a < TypeParam(2.0f) && a == 1.5f && a != 1 && a >= 1.5);
  a += 1;
  a *= a;
  a -= TypeParam(0.25f);
  a /= 2;
  EXPECT_EQ(a, 3.0f);
  EXPECT_EQ(str("a=", a), "a=3");
}

TYPED_TEST(ReducedFloatTest, ArraysEqualElements) {
  std::vector<TypeParam> all(65536);
  for (unsigned b = 0; b < 65536; ++b) all[b] = this->pattern(b);
  std::vector<float> floats(all.size() + 8, -7.0f);
  for (size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, all.size() - 3, all.size()}) {
    convert(all.data(), floats.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) {
      const float expected = all[i];
      ASSERT_EQ(std::memcmp(&floats[i], &expected, 4), 0) << i;
    }
    ASSERT_EQ(floats[all.size()], -7.0f);
  }
  std::mt19937 random(2);
  std::vector<TypeParam> back(200003);
  std::vector<float> inputs(back.size());
  for (float& f : inputs) {  // uniform over patterns, half of them pulled into the exponents of the half range
    uint32_t bits = static_cast<uint32_t>(random());
    if (bits & 1) bits = (bits & 0x8fffffffu) | 0x30000000u;
    std::memcpy(&f, &bits, 4);
  }
  convert(inputs.data(), back.data(), static_cast<int64_t>(back.size()));
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i].x, TypeParam(inputs[i]).x) << inputs[i];
}

#if defined(__FLT16_MAX__)
TEST(Half, EqualsTheCompilersConversions) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (i & 1) bits = (bits & 0x8fffffffu) | 0x30000000u;
    float f;
    std::memcpy(&f, &bits, 4);
    if (std::isnan(f)) continue;
    const _Float16 oracle = static_cast<_Float16>(f);
    uint16_t expected;
    std::memcpy(&expected, &oracle, 2);
    ASSERT_EQ(Half(f).x, expected) << f;
  }
}
#endif

}  // namespace
}  // namespace argand
