// Infinities, NaN, signed zeros, denormals and PyTorch's conventions, against values written down here (those of the
// conventions as torch 2 gives them).
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <limits>

#include "argand/kernels/math.h"

namespace argand::math {
namespace {

template <class T>
class SpecialValues : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, Types);

// Equal, a zero with the same sign, any NaN for a NaN.
template <class T>
testing::AssertionResult same(T got, T expected) {
  const bool ok =
      std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected);
  if (ok) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << got << ", expected " << expected;
}
#define SAME(call, expected) EXPECT_TRUE(same<TypeParam>(call, static_cast<TypeParam>(expected))) << #call
#define CONSTANTS                                                           \
  using T = TypeParam;                                                      \
  [[maybe_unused]] constexpr T inf = std::numeric_limits<T>::infinity();    \
  [[maybe_unused]] constexpr T nan = std::numeric_limits<T>::quiet_NaN();   \
  [[maybe_unused]] constexpr T tiny = std::numeric_limits<T>::denorm_min(); \
  [[maybe_unused]] constexpr T zero = 0

TYPED_TEST(SpecialValues, NanStaysNan) {
  CONSTANTS;
  for (T (*f)(T) : {+[](T x) { return exp(x); },
                    +[](T x) { return exp2(x); },
                    +[](T x) { return expm1(x); },
                    +[](T x) { return log(x); },
                    +[](T x) { return log2(x); },
                    +[](T x) { return log10(x); },
                    +[](T x) { return log1p(x); },
                    +[](T x) { return tanh(x); },
                    +[](T x) { return sigmoid(x); },
                    +[](T x) { return erf(x); },
                    +[](T x) { return erfc(x); },
                    +[](T x) { return sin(x); },
                    +[](T x) { return cos(x); },
                    +[](T x) { return tan(x); },
                    +[](T x) { return asin(x); },
                    +[](T x) { return acos(x); },
                    +[](T x) { return atan(x); },
                    +[](T x) { return sinh(x); },
                    +[](T x) { return cosh(x); },
                    +[](T x) { return asinh(x); },
                    +[](T x) { return acosh(x); },
                    +[](T x) { return atanh(x); },
                    +[](T x) { return gelu(x); },
                    +[](T x) { return gelu_tanh(x); },
                    +[](T x) { return sqrt(x); },
                    +[](T x) { return rsqrt(x); },
                    +[](T x) { return round(x); },
                    +[](T x) { return lgamma(x); },
                    +[](T x) { return digamma(x); },
                    +[](T x) { return erfinv(x); },
                    +[](T x) { return normal_cdf(x); },
                    +[](T x) { return normal_pdf(x); },
                    +[](T x) { return log_sigmoid(x); },
                    +[](T x) { return log1p_exp(x); },
                    +[](T x) { return min(x, T(1)); },
                    +[](T x) { return min(T(1), x); },
                    +[](T x) { return max(x, T(1)); },
                    +[](T x) { return max(T(1), x); },
                    +[](T x) { return atan2(x, T(1)); },
                    +[](T x) { return atan2(T(1), x); },
                    +[](T x) { return pow(x, T(2)); },
                    +[](T x) { return pow(T(2), x); },
                    +[](T x) { return pow(x, T(-2)); },
                    +[](T x) { return pow(T(-1), x); },
                    +[](T x) { return hypot(x, T(2)); },
                    +[](T x) { return fmod(x, T(2)); },
                    +[](T x) { return remainder(T(2), x); },
                    +[](T x) { return floor_div(x, T(2)); },
                    +[](T x) { return logaddexp(x, T(2)); },
                    +[](T x) { return logaddexp(T(2), x); }})
    for (T payload : {nan, detail::from_bits<T>(detail::bits_of(inf) + 1)}) EXPECT_TRUE(same(f(payload), nan));
}

TYPED_TEST(SpecialValues, OddFunctionsKeepTheSignOfZeroAndDenormals) {
  CONSTANTS;
  for (T (*f)(T) : {+[](T x) { return expm1(x); }, +[](T x) { return log1p(x); }, +[](T x) { return tanh(x); },
                    +[](T x) { return sin(x); }, +[](T x) { return tan(x); }, +[](T x) { return asin(x); },
                    +[](T x) { return atan(x); }, +[](T x) { return sinh(x); }, +[](T x) { return asinh(x); },
                    +[](T x) { return atanh(x); }, +[](T x) { return round(x); }, +[](T x) { return trunc(x); }})
    for (T x : {zero, -zero}) EXPECT_TRUE(same(f(x), x));
  for (T x : {zero, -zero}) {
    SAME(erf(x), x);
    SAME(erfinv(x), x);
    SAME(gelu(x), x);
    SAME(sqrt(x), x);
  }
  for (T x : {tiny, -tiny, 5 * tiny}) {
    SAME(expm1(x), x);
    SAME(log1p(x), x);
    SAME(tanh(x), x);
    SAME(sin(x), x);
    SAME(sinh(x), x);
    SAME(asinh(x), x);
    SAME(atanh(x), x);
  }
}

TYPED_TEST(SpecialValues, Exponentials) {
  CONSTANTS;
  constexpr T max = std::numeric_limits<T>::max(), min = std::numeric_limits<T>::min();
  SAME(exp(inf), inf);
  SAME(exp(-inf), 0);
  SAME(exp(max), inf);
  SAME(exp(-max), 0);
  SAME(exp(zero), 1);
  SAME(exp(tiny), 1);
  SAME(exp2(T(std::numeric_limits<T>::min_exponent - 1)), min);
  SAME(exp2(T(std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits)), tiny);
  SAME(exp2(T(std::numeric_limits<T>::max_exponent)), inf);
  SAME(exp2(T(std::numeric_limits<T>::max_exponent - 1)),
       max / 2 + std::ldexp(T(1), std::numeric_limits<T>::max_exponent - 2 - std::numeric_limits<T>::digits + 1));
  SAME(exp2(-inf), 0);
  SAME(exp2(inf), inf);
  for (int n = -120; n < 120; ++n) SAME(exp2(T(n)), std::ldexp(T(1), n));
  SAME(expm1(-inf), -1);
  SAME(expm1(inf), inf);
  SAME(expm1(max), inf);
  // The largest number whose exponential is finite, and the next.
  const T last = std::log(max);
  EXPECT_TRUE(std::isfinite(exp(std::nextafter(last, zero))));
  EXPECT_TRUE(std::isinf(exp(std::nextafter(std::nextafter(last, inf), inf))));
  EXPECT_TRUE(std::isfinite(expm1(std::nextafter(last, zero))));
  EXPECT_TRUE(std::isinf(expm1(std::nextafter(std::nextafter(last, inf), inf))));
}

TYPED_TEST(SpecialValues, Logarithms) {
  CONSTANTS;
  for (T x : {zero, -zero}) {
    SAME(log(x), -inf);
    SAME(log2(x), -inf);
    SAME(log10(x), -inf);
  }
  for (T x : {T(-1), -tiny, -inf}) {
    SAME(log(x), nan);
    SAME(log2(x), nan);
    SAME(log10(x), nan);
  }
  SAME(log(inf), inf);
  SAME(log2(inf), inf);
  SAME(log10(inf), inf);
  SAME(log(T(1)), 0);
  SAME(log2(T(1)), 0);
  SAME(log10(T(1)), 0);
  SAME(log2(tiny), std::log2(tiny));
  for (int n = -100; n < 100; ++n) SAME(log2(std::ldexp(T(1), n)), n);
  SAME(log10(T(1000)), 3);
  SAME(log1p(T(-1)), -inf);
  SAME(log1p(T(-2)), nan);
  SAME(log1p(inf), inf);
  SAME(log1p(-inf), nan);
}

TYPED_TEST(SpecialValues, Sigmoids) {
  CONSTANTS;
  SAME(tanh(inf), 1);
  SAME(tanh(-inf), -1);
  SAME(tanh(T(100)), 1);
  SAME(sigmoid(inf), 1);
  SAME(sigmoid(-inf), 0);
  SAME(sigmoid(zero), 0.5);
  SAME(sigmoid(-zero), 0.5);
  EXPECT_GT(sigmoid(T(sizeof(T) == 4 ? -100 : -740)), 0);  // denormal, not 0
  SAME(log_sigmoid(-inf), -inf);
  SAME(log_sigmoid(inf), 0);
  SAME(log1p_exp(inf), inf);
  SAME(log1p_exp(-inf), 0);
  SAME(logaddexp(inf, inf), inf);
  SAME(logaddexp(-inf, -inf), -inf);
  SAME(logaddexp(inf, -inf), inf);
  SAME(logaddexp(T(1), -inf), 1);
  SAME(sinh(-inf), -inf);
  SAME(cosh(-inf), inf);
  SAME(asinh(-inf), -inf);
  SAME(acosh(inf), inf);
  SAME(acosh(T(1)), 0);
  SAME(acosh(T(0.5)), nan);
  SAME(acosh(-inf), nan);
  SAME(atanh(T(1)), inf);
  SAME(atanh(T(-1)), -inf);
  SAME(atanh(T(2)), nan);
  SAME(atanh(inf), nan);
}

TYPED_TEST(SpecialValues, ErfFamily) {
  CONSTANTS;
  SAME(erf(inf), 1);
  SAME(erf(-inf), -1);
  SAME(erfc(inf), 0);
  SAME(erfc(-inf), 2);
  SAME(erfc(zero), 1);
  SAME(erfinv(T(1)), inf);
  SAME(erfinv(T(-1)), -inf);
  SAME(erfinv(T(2)), nan);
  SAME(normal_cdf(inf), 1);
  SAME(normal_cdf(-inf), 0);
  SAME(normal_cdf(zero), 0.5);
  SAME(normal_pdf(inf), 0);
  SAME(normal_pdf(-inf), 0);
  SAME(gelu(inf), inf);
  SAME(gelu(-inf), nan);
  SAME(gelu(T(-1000)), -zero);
  SAME(gelu_tanh(inf), inf);
  SAME(gelu_tanh(-inf), nan);
  SAME(gelu_tanh(T(-1000)), -zero);
  SAME(gelu_tanh_derivative(T(1000)), 1);
  SAME(gelu_tanh_derivative(T(-1000)), 0);
}

TYPED_TEST(SpecialValues, Trigonometric) {
  CONSTANTS;
  const T pi = std::acos(T(-1));
  for (T x : {inf, -inf}) {
    SAME(sin(x), nan);
    SAME(cos(x), nan);
    SAME(tan(x), nan);
  }
  SAME(cos(zero), 1);
  SAME(cos(tiny), 1);
  SAME(asin(T(1)), std::asin(T(1)));
  SAME(asin(T(2)), nan);
  SAME(asin(-inf), nan);
  SAME(acos(T(1)), 0);
  SAME(acos(T(-1)), pi);
  SAME(acos(T(2)), nan);
  SAME(acos(inf), nan);
  SAME(atan(inf), std::atan(inf));
  SAME(atan(-inf), std::atan(-inf));
  for (T y : {zero, -zero, T(1), T(-1), inf, -inf, tiny})
    for (T x : {zero, -zero, T(1), T(-1), inf, -inf, tiny}) SAME(atan2(y, x), std::atan2(y, x)) << y << ", " << x;
}

TYPED_TEST(SpecialValues, Pow) {
  CONSTANTS;
  for (T x : {zero, -zero, T(1), T(-1), T(2), T(-2), T(0.5), T(-0.5), T(-8), inf, -inf, nan, tiny, -tiny})
    for (T y : {zero, -zero, T(1), T(-1), T(2), T(-2), T(3), T(-3), T(0.5), T(-0.5), T(1) / 3, inf, -inf, nan, T(1e30)})
      SAME(pow(x, y), std::pow(x, y)) << x << ", " << y;
}

TYPED_TEST(SpecialValues, Comparisons) {
  CONSTANTS;
  SAME(min(T(1), T(2)), 1);
  SAME(max(T(1), T(2)), 2);
  SAME(min(-inf, nan), nan);
  SAME(max(nan, inf), nan);
  SAME(sign(nan), 0);
  SAME(sign(-inf), -1);
  SAME(sign(T(3)), 1);
  SAME(abs(-inf), inf);
  SAME(abs(-zero), 0);
  SAME(hypot(inf, nan), inf);
  SAME(hypot(nan, -inf), inf);
  SAME(nextafter(zero, T(1)), tiny);
  SAME(copysign(T(2), -zero), -2);
  EXPECT_TRUE(isnan(nan) && !isnan(inf) && isinf(-inf) && !isinf(nan) && !isinf(T(1)));
  EXPECT_TRUE(isfinite(tiny) && !isfinite(inf) && !isfinite(nan));
  for (T x : {T(0.5), T(1.5), T(2.5), T(-0.5), T(-1.5)}) SAME(round(x), std::nearbyint(x));
  SAME(rsqrt(zero), inf);
  SAME(rsqrt(-zero), -inf);
  SAME(sqrt(T(-1)), nan);
}

TYPED_TEST(SpecialValues, Division) {
  CONSTANTS;
  struct Row {
    T a, b, floor_div, remainder, fmod;
  };
  for (const Row& r :
       {Row{T(1), zero, inf, nan, nan}, Row{T(-1), zero, -inf, nan, nan}, Row{zero, zero, nan, nan, nan},
        Row{T(5), inf, zero, T(5), T(5)}, Row{T(-5), inf, T(-1), inf, T(-5)}, Row{inf, T(2), nan, nan, nan},
        Row{T(1), -inf, T(-1), -inf, T(1)}, Row{T(-1), -inf, zero, T(-1), T(-1)}, Row{-zero, T(5), -zero, -zero, -zero},
        Row{T(6), -zero, -inf, nan, nan}, Row{T(7), T(2), T(3), T(1), T(1)}, Row{T(-7), T(2), T(-4), T(1), T(-1)},
        Row{T(7), T(-2), T(-4), T(-1), T(1)}, Row{T(-7), T(-2), T(3), T(-1), T(-1)}}) {
    SAME(floor_div(r.a, r.b), r.floor_div) << r.a << ", " << r.b;
    SAME(remainder(r.a, r.b), r.remainder) << r.a << ", " << r.b;
    SAME(fmod(r.a, r.b), r.fmod) << r.a << ", " << r.b;
  }
  SAME(floor_div(T(1), T(0.1)), 9);  // 0.1 is a little more than a tenth
  SAME(trunc_div(T(-7), T(2)), -3);
}

TYPED_TEST(SpecialValues, Gamma) {
  CONSTANTS;
  SAME(lgamma(zero), inf);
  SAME(lgamma(T(-2)), inf);
  SAME(lgamma(T(1)), 0);
  SAME(lgamma(T(2)), 0);
  SAME(lgamma(-inf), inf);
  SAME(digamma(zero), -inf);
  SAME(digamma(-zero), inf);
  SAME(digamma(T(-3)), nan);
  SAME(digamma(inf), inf);
  SAME(digamma(-inf), nan);
}

TEST(IntegerMath, DivisionRoundsDownAndNeverTraps) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(floor_div(int64_t{-7}, int64_t{2}), -4);
  EXPECT_EQ(floor_div(int64_t{7}, int64_t{-2}), -4);
  EXPECT_EQ(floor_div(int64_t{-8}, int64_t{2}), -4);
  EXPECT_EQ(trunc_div(int64_t{-7}, int64_t{2}), -3);
  EXPECT_EQ(remainder(int64_t{-7}, int64_t{2}), 1);
  EXPECT_EQ(remainder(int64_t{7}, int64_t{-2}), -1);
  EXPECT_EQ(fmod(int64_t{-7}, int64_t{2}), -1);
  EXPECT_EQ(floor_div(kMin, int64_t{-1}), kMin);
  EXPECT_EQ(trunc_div(kMin, int64_t{-1}), kMin);
  EXPECT_EQ(remainder(kMin, int64_t{-1}), 0);
  EXPECT_EQ(floor_div(int64_t{5}, int64_t{0}), 0);
  EXPECT_EQ(remainder(int64_t{5}, int64_t{0}), 0);
  EXPECT_EQ(floor_div(uint8_t{200}, uint8_t{7}), 28);
  EXPECT_EQ(abs(kMin), kMin);
  EXPECT_EQ(abs(int64_t{-3}), 3);
  EXPECT_EQ(sign(int64_t{-3}), -1);
  EXPECT_EQ(max(int64_t{-3}, int64_t{2}), 2);
  EXPECT_EQ(floor_div(int8_t{-128}, int8_t{-1}), -128);
  for (bool a : {false, true}) {  // bool is an integer too
    EXPECT_EQ(abs(a), a);
    EXPECT_EQ(sign(a), a);
    EXPECT_EQ(floor_div(a, true), a);
    EXPECT_EQ(remainder(a, true), false);
    EXPECT_EQ(pow(a, true), a);
    EXPECT_EQ(max(a, false), a);
    EXPECT_FALSE(isnan(a));
  }
}

TEST(IntegerMath, Pow) {
  EXPECT_EQ(pow(int64_t{3}, int64_t{4}), 81);
  EXPECT_EQ(pow(int64_t{-2}, int64_t{63}), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(pow(int64_t{7}, int64_t{0}), 1);
  EXPECT_EQ(pow(int64_t{2}, int64_t{-1}), 0);
  EXPECT_EQ(pow(int64_t{1}, int64_t{-5}), 1);
  EXPECT_EQ(pow(int64_t{-1}, int64_t{-3}), -1);
  EXPECT_EQ(pow(int64_t{-1}, int64_t{-2}), 1);
}

TEST(ComplexMath, AgreesWithTheStandardLibraryAndWithRealNumbers) {
  using C = std::complex<double>;
  const C z(0.3, -1.2);
  EXPECT_EQ(math::exp(z), std::exp(z));
  EXPECT_EQ(math::sqrt(z), std::sqrt(z));
  EXPECT_EQ(math::abs(z), std::abs(z));
  EXPECT_NEAR(std::abs(math::expm1(z) - (std::exp(z) - 1.0)), 0, 1e-15);
  EXPECT_NEAR(std::abs(math::log1p(z) - std::log(1.0 + z)), 0, 1e-15);
  EXPECT_NEAR(math::expm1(C(1e-12, 0)).real(), std::expm1(1e-12), 1e-27);
  EXPECT_NEAR(math::log1p(C(1e-12, 0)).real(), std::log1p(1e-12), 1e-27);
  EXPECT_NEAR(std::abs(math::exp2(z) - std::pow(C(2), z)), 0, 1e-15);
  EXPECT_NEAR(std::abs(math::log2(z) - std::log(z) / std::log(2.0)), 0, 1e-15);
  EXPECT_NEAR(std::abs(math::sigmoid(z) * (1.0 + std::exp(-z)) - 1.0), 0, 1e-15);
  EXPECT_NEAR(std::abs(math::rsqrt(z) * std::sqrt(z) - 1.0), 0, 1e-15);
  EXPECT_EQ(math::sign(C(3, 4)), C(0.6, 0.8));
  EXPECT_EQ(math::sign(C(0, 0)), C(0, 0));
  EXPECT_EQ(math::pow(C(0), C(0)), C(1));
  EXPECT_EQ(math::pow(C(0), C(2)), C(0));
  EXPECT_NEAR(std::abs(math::pow(z, C(2)) - z * z), 0, 1e-15);
}

}  // namespace
}  // namespace argand::math
