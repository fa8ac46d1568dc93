// erf, erfc, the normal distribution and gelu.  float without branches; double forwards erf and erfc to <cmath>.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/hyperbolic.h"

namespace argand::math {

namespace detail {

// e^(-factor x^2).  The error of a rounded square would be multiplied by the square itself, so its low part is kept:
// with x = high + rest, x^2 = high^2 + (x + high) rest, and the first is exact; the second is at most 1/16 for |x|
// < 16.
ARGAND_MATH float exp_of_minus_square(float x, float factor) {
  const float high = from_bits<float>(bits_of(x) & ~unsigned{0xfff});
  return exp_corrected(-factor * (high * high), -factor * ((x + high) * (x - high)));
}

// e^(x^2) erfc(x) for 0 <= x <= 10.1: p(q) / (1 + 2 x) with q = (x - 2) / (x + 2), which is nearly flat.  (Shepherd,
// Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", Math. Comp. 36, 1981.)
ARGAND_MATH float erfcx(float x) {
  const float q = (x - 2) / (x + 2);
  const float p = polynomial(q, 0x1.46e80ep+0f, -0x1.7bf604p-4f, -0x1.540808p-3f, 0x1.4ffbd8p-3f, -0x1.bc11aap-5f,
                             -0x1.0809bcp-7f, 0x1.1b2498p-7f, 0x1.5870dcp-10f, -0x1.44b5e0p-10f, -0x1.a87c66p-12f);
  return p / (1 + 2 * x);
}

}  // namespace detail

namespace detail {

// erf(x) for |x| < 0.9
ARGAND_MATH float erf_near_zero(float x) {
  const float z = x * x;
  return x + x * polynomial(z, 0x1.06eba6p-3f, -0x1.8126f4p-2f, 0x1.ce1d3cp-4f, -0x1.b6b80ep-6f, 0x1.485474p-8f,
                            -0x1.3ed2cap-11f);
}

}  // namespace detail

// |x| < 0.9: x + x p(x^2); beyond, 1 - e^-p(|x|), which rounds to 1 before |x| is 4.
ARGAND_MATH float erf(float x) {
  const float a = detail::magnitude(x);
  const float b = detail::at_most(a, 4.0f);
  const float p = detail::polynomial(b, 0x1.70d88ap-13f, 0x1.20b4a0p+0f, 0x1.462b4ap-1f, 0x1.aa2c92p-4f,
                                     -0x1.6d0e3ep-6f, 0x1.90a1d4p-9f, -0x1.9db66cp-13f);
  const float large = 1 - detail::exp_normal(-p);
  return detail::with_sign_of(detail::select(a < 0.9f, detail::erf_near_zero(a), large), x);
}
ARGAND_MATH double erf(double x) { return std::erf(x); }

// 1 - erf(x) while that is above a half, which is more accurate there.
ARGAND_MATH float erfc(float x) {
  const float a = detail::magnitude(x);
  const float b = detail::at_most(a, 10.25f);
  const float tail = detail::exp_of_minus_square(b, 1.0f) * detail::erfcx(b);
  const float outer = detail::select(x < 0, 2 - tail, tail);
  return detail::select(a < 0.475f, 1 - detail::erf_near_zero(x), outer);
}
ARGAND_MATH double erfc(double x) { return std::erfc(x); }

namespace detail {

// For the normal distribution function at x and for gelu: e^(-x^2/2) and e^(x^2/2) P(X <= -|x|).
struct NormalTail {
  float exp, ratio;
};
ARGAND_MATH NormalTail normal_tail(float x) {
  constexpr float kSqrtHalf = 0x1.6a09e6p-1f;
  const float a = magnitude(x);
  const float b = at_most(a, 14.45f);  // where the exponential is 0: an infinite x times it is NaN
  return {exp_of_minus_square(b, 0.5f), 0.5f * erfcx(b * kSqrtHalf)};
}
// P(X <= x) for |x| < 0.67
ARGAND_MATH float normal_cdf_near_zero(float x) {
  constexpr float kSqrtHalf = 0x1.6a09e6p-1f;
  return 0.5f + 0.5f * erf_near_zero(x * kSqrtHalf);
}

}  // namespace detail

// P(X <= x) of the standard normal distribution, and its density.
ARGAND_MATH float normal_cdf(float x) {
  const detail::NormalTail t = detail::normal_tail(x);
  const float tail = t.exp * t.ratio;
  const float outer = detail::select(x < 0, tail, 1 - tail);
  return detail::select(detail::magnitude(x) < 0.67f, detail::normal_cdf_near_zero(x), outer);
}
ARGAND_MATH double normal_cdf(double x) {
  constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  return 0.5 * std::erfc(-x * kSqrtHalf);
}
ARGAND_MATH float normal_pdf(float x) {
  constexpr float kInverseSqrtTwoPi = 0x1.988454p-2f;
  const float a = detail::magnitude(x);
  const float density = kInverseSqrtTwoPi * detail::exp_of_minus_square(detail::at_most(a, 14.5f), 0.5f);
  return detail::select(x != x, x,
                        density);  // a NaN may have lost its bits, and be infinity, in the split of the square
}
ARGAND_MATH double normal_pdf(double x) {
  constexpr double kInverseSqrtTwoPi = 0x1.9884533d43651p-2;
  return kInverseSqrtTwoPi * exp(-0.5 * x * x);
}

// x P(X <= x); NaN at -infinity, as the product says.  Its derivative is normal_cdf(x) + x normal_pdf(x).
ARGAND_MATH float gelu(float x) {
  const detail::NormalTail t = detail::normal_tail(x);
  // In this order, because the distribution function would be denormal, and lose digits, before gelu is.
  const float outer = detail::select(x < 0, x * t.ratio * t.exp, x * (1 - t.exp * t.ratio));
  return detail::select(detail::magnitude(x) < 0.67f, x * detail::normal_cdf_near_zero(x), outer);
}
ARGAND_MATH double gelu(double x) { return x * normal_cdf(x); }

}  // namespace argand::math
