// Rare functions compared with values of more digits.  The allowed relative error is that of the argument's last place,
// times the function's condition number, and a few units more.
#include "argand/kernels/math/reference_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "argand/kernels/math.h"
#include "argand/kernels/math/airy.h"
#include "argand/kernels/math/incomplete.h"
#include "argand/kernels/math/special.h"

namespace argand::math {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

void expect_near(double got, double expected, double units, double scale, const std::string& call) {
  // Below the normal numbers there are fewer digits.
  const double limit = units * kEpsilon * scale + std::numeric_limits<double>::min() * kEpsilon * 4;
  EXPECT_LE(std::abs(got - expected), limit)
      << std::hexfloat << call << " is " << got << ", expected " << expected << std::defaultfloat << " (" << got << ")";
}

template <class F, size_t N>
void check(const char* name, F f, const ReferenceOfOne (&values)[N], double units) {
  for (const auto& [x, value] : values)
    expect_near(f(x), value, units, std::abs(value), std::string(name) + "(" + std::to_string(x) + ")");
}
template <class F, size_t N>
void check(const char* name, F f, const ReferenceOfTwo (&values)[N], double units) {
  for (const auto& [x, y, value] : values)
    expect_near(f(x, y), value, units, std::abs(value),
                std::string(name) + "(" + std::to_string(x) + ", " + std::to_string(y) + ")");
}

#define CHECK_ONE(name, units) \
  check(                       \
      #name, [](double x) { return name(x); }, k_##name, units)
#define CHECK_TWO(name, units) \
  check(                       \
      #name, [](double x, double y) { return name(x, y); }, k_##name, units)

TEST(MathReference, Airy) {
  // Left of -1 it has zeros: the error is one of its largest values there.
  for (const auto& [x, value] : k_airy_ai) {
    const double scale = x < -1 ? 1 / std::sqrt(kPi<double> * std::sqrt(-x)) : value;
    expect_near(airy_ai(x), value, x > 4 ? 16 + x * std::sqrt(x) : 16 + std::abs(x), scale, std::to_string(x));
  }
}

TEST(MathReference, Bessel) {
  CHECK_ONE(bessel_i0, 64);
  CHECK_ONE(bessel_i1, 64);
  CHECK_ONE(bessel_i0e, 64);
  CHECK_ONE(bessel_i1e, 64);
  CHECK_ONE(bessel_k0, 64);
  CHECK_ONE(bessel_k1, 64);
  CHECK_ONE(bessel_k0e, 64);
  CHECK_ONE(bessel_k1e, 64);
  CHECK_ONE(spherical_bessel_j0, 4);
}

TEST(MathReference, Normal) {
  CHECK_ONE(erfcx, 64);
  CHECK_ONE(log_normal_cdf, 64);
  CHECK_ONE(normal_quantile, 64);
  CHECK_ONE(erfinv, 64);
}

TEST(MathReference, Gamma) {
  CHECK_ONE(lgamma, 16);
  CHECK_ONE(digamma, 64);
  CHECK_TWO(igamma, 4096);
  CHECK_TWO(igammac, 4096);
  CHECK_TWO(zeta, 64);
  CHECK_TWO(polygamma, 64);
}

}  // namespace
}  // namespace argand::math
