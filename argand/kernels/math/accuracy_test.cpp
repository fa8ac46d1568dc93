// Errors against wider arithmetic: double for float, long double for double.  Each function is tried on numbers of
// every exponent, and densely where it is interesting; the largest error and where it was are printed when it is too
// large.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "argand/kernels/math.h"
#include "argand/kernels/math/ulp_test.h"

namespace argand::math {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

template <class T>
struct Worst {
  double ulps = -1;
  T x{}, y{}, got{};
  Wider<T> exact{};
  long count = 0;

  void take(T x_, T y_, T got_, Wider<T> exact_) {
    ++count;
    const double error = ulp_error<T>(got_, exact_);
    if (error > ulps) *this = {error, x_, y_, got_, exact_, count};
  }
  void expect_at_most(double limit, const char* name) const {
    EXPECT_GT(count, 1000) << name;
    EXPECT_LE(ulps, limit) << name << " of " << std::hexfloat << x << ", " << y << std::defaultfloat << " ("
                           << static_cast<double>(x) << ", " << static_cast<double>(y) << ") is " << got
                           << ", expected " << exact;
    testing::Test::RecordProperty(std::string(name) + (sizeof(T) == 4 ? "_float" : "_double"), std::to_string(ulps));
  }
};

// Uniform over all bit patterns: every exponent, both signs, infinities, NaN, denormals.
template <class T>
T any_number(std::mt19937_64& random) {
  const uint64_t bits = random();
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

template <class T>
void check(const char* name, T (*f)(T), Wider<T> (*exact)(Wider<T>), double limit, double low, double high) {
  std::mt19937_64 random(1);
  Worst<T> worst;
  const auto at = [&](T x) { worst.take(x, 0, f(x), exact(x)); };
  for (int i = 0; i < 60000; ++i) at(any_number<T>(random));
  std::uniform_real_distribution<T> uniform(static_cast<T>(low), static_cast<T>(high));
  for (int i = 0; i < 60000; ++i) at(uniform(random));
  for (T x : {T(0), T(1), T(-1), T(0.5), T(2), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
              std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::infinity()})
    at(x), at(-x);
  worst.expect_at_most(limit, name);
}

template <class T>
void check2(const char* name, T (*f)(T, T), Wider<T> (*exact)(Wider<T>, Wider<T>), double limit, double low,
            double high) {
  std::mt19937_64 random(2);
  Worst<T> worst;
  const auto at = [&](T x, T y) { worst.take(x, y, f(x, y), exact(x, y)); };
  for (int i = 0; i < 60000; ++i) at(any_number<T>(random), any_number<T>(random));
  std::uniform_real_distribution<T> uniform(static_cast<T>(low), static_cast<T>(high));
  for (int i = 0; i < 60000; ++i) at(uniform(random), uniform(random));
  worst.expect_at_most(limit, name);
}

#define CHECK_AS(T, name, reference, limit, low, high) \
  check<T>(                                            \
      #name, [](T x) { return math::name(x); }, [](Wider<T> x) -> Wider<T> { return reference; }, limit, low, high)
#define CHECK2_AS(T, name, reference, limit, low, high)                                                               \
  check2<T>(                                                                                                          \
      #name, [](T x, T y) { return math::name(x, y); }, [](Wider<T> x, Wider<T> y) -> Wider<T> { return reference; }, \
      limit, low, high)
// Both types, with one limit for each.
#define CHECK(name, reference, float_limit, double_limit, low, high) \
  CHECK_AS(float, name, reference, float_limit, low, high);          \
  CHECK_AS(double, name, reference, double_limit, low, high)
#define CHECK2(name, reference, float_limit, double_limit, low, high) \
  CHECK2_AS(float, name, reference, float_limit, low, high);          \
  CHECK2_AS(double, name, reference, double_limit, low, high)

TEST(MathAccuracy, Exponentials) {
  CHECK(exp, std::exp(x), 1, 1, -110, 90);
  CHECK(exp, std::exp(x), 1, 1, -750, 710);
  CHECK(exp2, std::exp2(x), 1.25, 1.25, -152, 129);
  CHECK(expm1, std::expm1(x), 1.6, 1.6, -2, 3);
}

TEST(MathAccuracy, Logarithms) {
  CHECK(log, std::log(x), 1, 1, 0.5, 2);
  CHECK(log2, std::log2(x), 1, 1, 0.5, 2);
  CHECK(log10, std::log10(x), 1, 1, 0.5, 2);
  CHECK(log1p, std::log1p(x), 1, 1, -1, 1);
}

TEST(MathAccuracy, Sigmoids) {
  CHECK(tanh, std::tanh(x), 1.5, 1.5, -3, 3);
  CHECK(sigmoid, x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)), 1.25, 1.25, -20, 20);
  CHECK(sigmoid, x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)), 1.25, 1.25, -110, -80);
  CHECK(log1p_exp, std::max<decltype(x)>(x, 0) + std::log1p(std::exp(-std::abs(x))), 2, 2, -20, 20);
  CHECK(log_sigmoid, std::min<decltype(x)>(x, 0) - std::log1p(std::exp(-std::abs(x))), 2, 2, -20, 20);
}

TEST(MathAccuracy, Hyperbolic) {
  CHECK(sinh, std::sinh(x), 0.51, 2, -5, 5);
  CHECK(cosh, std::cosh(x), 0.51, 2, -5, 5);
  CHECK(asinh, std::asinh(x), 0.51, 2, -2, 2);
  CHECK(acosh, std::acosh(x), 0.51, 2, 1, 3);
  CHECK(atanh, std::atanh(x), 0.51, 2, -1, 1);
}

TEST(MathAccuracy, Erf) {
  CHECK(erf, std::erf(x), 1.5, 1.5, -4, 4);
  CHECK(erfc, std::erfc(x), 4, 5, -4, 10);
  CHECK_AS(float, normal_cdf, 0.5 * std::erfc(x * -std::sqrt(0.5)), 5, -14, 5);
  CHECK_AS(float, normal_pdf, std::exp(-0.5 * x * x) / std::sqrt(2 * static_cast<double>(kPi)), 2, -14, 14);
  CHECK_AS(float, gelu, std::isinf(x) && x < 0 ? NAN : 0.5 * x * std::erfc(x * -std::sqrt(0.5)), 5, -14, 5);
  // In double the argument of erfc is rounded, which costs x^2 times as much in the result.
  for (double x = -6; x < 6; x += 1e-3) {
    const double error = ulp_error<double>(normal_cdf(x), 0.5L * std::erfc(x * -std::sqrt(0.5L)));
    EXPECT_LE(error, 5 + 2 * x * x) << x;
  }
}

// sigmoid(2u) with u of a few units of error: that of the result is 2|u| times as large.
template <class T>
void check_gelu_tanh() {
  using W = Wider<T>;
  for (W v = -8; v < 8; v += W(1) / 1024) {
    const T x = static_cast<T>(v);
    const W slope = 2 * std::sqrt(2 / static_cast<W>(kPi));
    const W u2 = slope * (x + W(0.044715L) * x * x * x), s = 1 / (1 + std::exp(-u2));
    const double limit = 4 + 3 * static_cast<double>(std::max<W>(-u2, 0));
    EXPECT_LE(ulp_error<T>(gelu_tanh(x), x * s), limit) << x;
    const W derivative = s + x * s * (1 - s) * slope * (1 + 3 * W(0.044715L) * x * x);
    EXPECT_NEAR(static_cast<double>(gelu_tanh_derivative(x)), static_cast<double>(derivative),
                8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}
TEST(MathAccuracy, GeluTanh) {
  check_gelu_tanh<float>();
  check_gelu_tanh<double>();
}

TEST(MathAccuracy, Trigonometric) {
  CHECK(sin, std::sin(x), 0.51, 1, -10, 10);
  CHECK(sin, std::sin(x), 0.51, 1, -1e5, 1e5);
  CHECK(cos, std::cos(x), 0.51, 1, -10, 10);
  CHECK(cos, std::cos(x), 0.51, 1, -1e5, 1e5);
  CHECK(tan, std::tan(x), 0.51, 1, -10, 10);
}

// The floats that lie closest to a multiple of pi/2, found by the continued fractions of 2^e / (pi/2) for every
// exponent e (the first is 2^-29.9 away), and others near a multiple.
TEST(MathAccuracy, AnglesNearMultiplesOfHalfPi) {
  Worst<float> sines, cosines, tangents;
  const auto at = [&](float x) {
    sines.take(x, 0, sin(x), std::sin(static_cast<double>(x)));
    cosines.take(x, 0, cos(x), std::cos(static_cast<double>(x)));
    tangents.take(x, 0, tan(x), std::tan(static_cast<double>(x)));
  };
  for (float x : {0x1.f37c8ap+95f, 0x1.47d0fep+34f, 0x1.f37c8ap+96f, 0x1.47d0fep+35f, 0x1.f9cbe2p+7f, 0x1.f37c8ap+97f,
                  0x1.32ede2p+85f, 0x1.628d4cp+40f, 0x1.13093p+76f, 0x1.47d0fep+36f, 0x1.f9cbe2p+8f, 0x1.b08c4ap+111f})
    at(x), at(-x);
  for (int exponent = 0; exponent <= 127; ++exponent)
    for (int i = 0; i < 1000; ++i) {
      const long double start = std::ldexp(1.0L + i / 1000.0L, exponent);
      at(static_cast<float>(exponent < 40 ? std::round(start / (kPi / 2)) * (kPi / 2) : start));
    }
  sines.expect_at_most(0.51, "sin");
  cosines.expect_at_most(0.51, "cos");
  tangents.expect_at_most(0.51, "tan");
}

TEST(MathAccuracy, InverseTrigonometric) {
  CHECK(asin, std::asin(x), 0.6, 1, -1, 1);
  CHECK(acos, std::acos(x), 0.6, 1, -1, 1);
  CHECK(atan, std::atan(x), 0.6, 1, -5, 5);
  CHECK2(atan2, std::atan2(x, y), 0.6, 1, -5, 5);
}

TEST(MathAccuracy, Pow) {
  CHECK2(pow, std::pow(x, y), 0.52, 1, 0, 20);
  CHECK2(pow, std::pow(x, y), 0.52, 1, -3, 3);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> near_one(0.99f, 1.01f), large(-9000, 9000);
  std::uniform_int_distribution<int> integer(-40, 40);
  Worst<float> worst;
  for (int i = 0; i < 60000; ++i) {
    const float x = near_one(random), y = large(random), n = static_cast<float>(integer(random)), b = -10 * x;
    worst.take(x, y, pow(x, y), std::pow(static_cast<double>(x), static_cast<double>(y)));
    worst.take(b, n, pow(b, n), std::pow(static_cast<double>(b), static_cast<double>(n)));
  }
  worst.expect_at_most(0.52, "pow near one and with integers");
}

template <class T>
T exact_logaddexp(T x, T y) {
  return x == y ? x + std::log(T(2)) : std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
}

TEST(MathAccuracy, TwoOperands) {
  CHECK2(hypot, std::hypot(x, y), 0.51, 1, -5, 5);
  CHECK2(fmod, std::fmod(x, y), 0, 0, -50, 50);
  CHECK2(copysign, std::copysign(x, y), 0, 0, -50, 50);
  Worst<float> worst;  // where the logarithm does not cancel against the larger operand
  for (float x = 0; x < 30; x += 0.037f)
    for (float y = 0; y < 30; y += 0.041f) worst.take(x, y, logaddexp(x, y), exact_logaddexp<double>(x, y));
  worst.expect_at_most(2, "logaddexp");
}

TEST(MathAccuracy, Gamma) {
  CHECK_AS(float, lgamma, std::lgamma(x), 0.51, 0.1, 100);
  CHECK_AS(double, lgamma, std::lgamma(x), 6, 3, 100);
  CHECK_AS(float, erfinv, static_cast<double>(math::erfinv(static_cast<double>(x))), 0.51, -1, 1);
  Worst<double> inverse;  // erf(erfinv(x)) = x, as far as the slope of erf lets x be seen
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-6, 6);
  for (int i = 0; i < 60000; ++i) {
    const long double y = uniform(random);
    const double x = static_cast<double>(std::erf(y));
    if (std::abs(x) == 1) continue;
    const double got = erfinv(x);
    // One more step of Newton's method in long double from the result is the reference.
    const long double slope = 2 / std::sqrt(kPi) * std::exp(-static_cast<long double>(got) * got);
    const long double rest = std::abs(x) < 0.5 ? std::erf(static_cast<long double>(got)) - x
                             : x > 0 ? (1 - static_cast<long double>(x)) - std::erfc(static_cast<long double>(got))
                                     : std::erfc(-static_cast<long double>(got)) - (1 + static_cast<long double>(x));
    inverse.take(x, 0, got, got - rest / slope);
  }
  inverse.expect_at_most(3, "erfinv");
}

// psi(x + 1) = psi(x) + 1/x, psi(1 - x) - psi(x) = pi / tan(pi x), and known values.
TEST(MathAccuracy, Digamma) {
  constexpr double kEuler = 0.57721566490153286061;
  EXPECT_NEAR(digamma(1.0), -kEuler, 1e-15);
  EXPECT_NEAR(digamma(0.5), -kEuler - 2 * std::log(2.0), 1e-15);
  EXPECT_NEAR(digamma(10.0), 7129.0 / 2520 - kEuler, 1e-15);  // the harmonic number of 9
  EXPECT_FLOAT_EQ(digamma(10.0f), static_cast<float>(7129.0 / 2520 - kEuler));
  for (double x = 0.01; x < 30; x += 0.137) EXPECT_NEAR(digamma(x + 1), digamma(x) + 1 / x, 1e-13 * (1 + 1 / x)) << x;
  for (double x = 0.013; x < 1; x += 0.037) {
    const double cotangent = static_cast<double>(kPi) / std::tan(static_cast<double>(kPi) * x);
    EXPECT_NEAR(digamma(1 - x) - digamma(x), cotangent, 1e-12 * (1 + 1 / x)) << x;
    EXPECT_NEAR(digamma(-x), digamma(1 + x) + cotangent, 1e-12 * (1 + 1 / x)) << x;
  }
}

TEST(MathAccuracy, Roundings) {
  CHECK(floor, std::floor(x), 0, 0, -50, 50);
  CHECK(ceil, std::ceil(x), 0, 0, -50, 50);
  CHECK(trunc, std::trunc(x), 0, 0, -50, 50);
  CHECK(round, std::nearbyint(x), 0, 0, -50, 50);
  CHECK(sqrt, std::sqrt(x), 0.5, 0.5, 0, 50);
  CHECK(rsqrt, 1 / std::sqrt(x), 1.5, 1.5, 0, 50);
  CHECK(abs, std::abs(x), 0, 0, -50, 50);
}

}  // namespace
}  // namespace argand::math
