// Bessel functions of real arguments, and functions around the normal distribution: rare functions, one element at a
// time, computed in double.
#pragma once
#include "argand/kernels/math/composite.h"
#if !ARGAND_MATH_DEVICE
#include <cmath>

#include "argand/kernels/math/erf.h"
#include "argand/kernels/math/gamma.h"
#endif

namespace argand::math {

namespace detail {

// 1 + (m-1)/(8x) (1 + (m-9)/(2 8x) (1 + ...)), m = 4 n^2: the asymptotic series of sqrt(2x / pi) e^x K_n(x), and at -x
// that of sqrt(2 pi x) e^-x I_n(x).  Its smallest term is below 2^-53 from |x| = 30 on.
template <int kOrder>
ARGAND_HD inline double bessel_far(double x) {
  double term = 1, sum = 1;
  for (int k = 1; k < 30 && magnitude(term) > 0x1p-55; ++k) {
    term *= (4 * kOrder * kOrder - (2 * k - 1.0) * (2 * k - 1.0)) / (8 * k * x);
    sum += term;
  }
  return sum;
}

// I_n(x) = (x/2)^n / n! (1 + z / (1 (n+1)) (1 + z / (2 (n+2)) (1 + ...))), z = x^2 / 4: all terms positive.  For large
// x by its asymptotic series.  Scaled: times e^-|x|.
template <int kOrder>
ARGAND_HD inline double bessel_i(double x, bool scaled) {
  const double a = magnitude(x);
  if (a == kInfinity<double>) return scaled ? 0 : kOrder == 1 ? x : a;
  double result;
  if (a < 30) {
    const double z = a * a / 4;
    double term = kOrder == 0 ? 1 : a / 2;
    result = term;
    for (int k = 1; term > result * 0x1p-55; ++k) {
      term *= z / (k * (k + kOrder));
      result += term;
    }
    if (scaled) result *= exp(-a);
  } else {
    // In two halves: e^x overflows before the result does.
    const double half = scaled ? 1 : exp(a / 2);
    result = half / sqrt(2 * kPi<double> * a) * bessel_far<kOrder>(-a) * half;
  }
  return kOrder == 1 && x < 0 ? -result : result;
}

// e^x K_n(x), the integral of e^(x (1 - cosh t)) cosh(n t) from 0 on: the trapezoidal rule, whose error falls
// exponentially with its step; the integrand is as wide as 1 / sqrt(x), and where that is too narrow for the rule to
// step through it the asymptotic series stands.
template <int kOrder>
ARGAND_HD inline double scaled_bessel_k(double x) {
  if (!(x > 0)) return x == 0 ? kInfinity<double> : kNaN<double>;
  if (x == kInfinity<double>) return 0;
  if (x < 1e-8) return exp(x) * (kOrder == 0 ? log(2.0) - 0x1.2788cfc6fb619p-1 - log(x) : 1 / x);  // Euler's constant
  if (x > 50) return sqrt(kPi<double> / 2 / x) * bessel_far<kOrder>(x);
  const double step = min(0.2, 0.6 / sqrt(x));
  double sum = 0.5;
  for (int k = 1;; ++k) {
    const double e = exp(k * step), cosh = (e + 1 / e) / 2, s = exp(k * step / 2), sinh = (s - 1 / s) / 2;
    const double term = exp(-2 * x * (sinh * sinh)) * (kOrder == 0 ? 1 : cosh);  // cosh t - 1 = 2 sinh^2 (t / 2)
    sum += term;
    if (term < 0x1p-56 * sum) return sum * step;
  }
}

}  // namespace detail

ARGAND_HD inline double bessel_i0(double x) { return detail::bessel_i<0>(x, false); }
ARGAND_HD inline double bessel_i1(double x) { return detail::bessel_i<1>(x, false); }
ARGAND_HD inline double bessel_i0e(double x) { return detail::bessel_i<0>(x, true); }
ARGAND_HD inline double bessel_i1e(double x) { return detail::bessel_i<1>(x, true); }
ARGAND_HD inline double bessel_k0e(double x) { return detail::scaled_bessel_k<0>(x); }
ARGAND_HD inline double bessel_k1e(double x) { return detail::scaled_bessel_k<1>(x); }
ARGAND_HD inline double bessel_k0(double x) { return x < 0 ? detail::kNaN<double> : exp(-x) * bessel_k0e(x); }
ARGAND_HD inline double bessel_k1(double x) { return x < 0 ? detail::kNaN<double> : exp(-x) * bessel_k1e(x); }
ARGAND_HD inline double bessel_j0(double x) { return ::j0(x); }
ARGAND_HD inline double bessel_j1(double x) { return ::j1(x); }
ARGAND_HD inline double bessel_y0(double x) { return x < 0 ? detail::kNaN<double> : ::y0(x); }
ARGAND_HD inline double bessel_y1(double x) { return x < 0 ? detail::kNaN<double> : ::y1(x); }

// e^(x^2) erfc(x): from 2 on by the continued fraction 1 / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))) / sqrt(pi).
ARGAND_HD inline double erfcx(double x) {
  if (x < 2) return exp(x * x) * erfc(x);
  if (x > 1e8) return 1 / (x * sqrt(kPi<double>));
  double rest = x;
  for (int k = 60; k >= 1; --k) rest = x + 0.5 * k / rest;
  return 1 / (rest * sqrt(kPi<double>));
}

// The logarithm of the standard normal distribution's part below x.
ARGAND_HD inline double log_normal_cdf(double x) {
  const double root_half = 0x1.6a09e667f3bcdp-1;
  if (x < -1) return log(erfcx(-x * root_half) / 2) - x * x / 2;
  return log1p(-erfc(x * root_half) / 2);
}

// The x below which the part p of the standard normal distribution lies.
ARGAND_HD inline double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return detail::kNaN<double>;
  if (p == 0 || p == 1) return p == 0 ? -detail::kInfinity<double> : detail::kInfinity<double>;
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p > 0.1) return erfinv(2 * p - 1) * 0x1.6a09e667f3bcdp+0;
  // Newton's method on the logarithm, which is concave: all steps but the first go up.
  const double target = log(p);
  double x = -sqrt(-2 * target);
  for (int k = 0; k < 8; ++k) {
    const double slope = 0x1.9884533d43651p-1 / erfcx(-x * 0x1.6a09e667f3bcdp-1);  // sqrt(2 / pi) / erfcx
    x -= (log_normal_cdf(x) - target) / slope;
  }
  return x;
}

// sin(x) / x
ARGAND_HD inline double spherical_bessel_j0(double x) {
  if (detail::magnitude(x) == detail::kInfinity<double>) return 0;
  return x == 0 ? 1 : sin(x) / x;
}

#define ARGAND_FOR_FLOAT(name) \
  ARGAND_HD inline float name(float x) { return static_cast<float>(name(static_cast<double>(x))); }
ARGAND_FOR_FLOAT(bessel_i0)
ARGAND_FOR_FLOAT(bessel_i1)
ARGAND_FOR_FLOAT(bessel_i0e)
ARGAND_FOR_FLOAT(bessel_i1e)
ARGAND_FOR_FLOAT(bessel_k0)
ARGAND_FOR_FLOAT(bessel_k1)
ARGAND_FOR_FLOAT(bessel_k0e)
ARGAND_FOR_FLOAT(bessel_k1e)
ARGAND_FOR_FLOAT(bessel_j0)
ARGAND_FOR_FLOAT(bessel_j1)
ARGAND_FOR_FLOAT(bessel_y0)
ARGAND_FOR_FLOAT(bessel_y1)
ARGAND_FOR_FLOAT(erfcx)
ARGAND_FOR_FLOAT(log_normal_cdf)
ARGAND_FOR_FLOAT(normal_quantile)
ARGAND_FOR_FLOAT(spherical_bessel_j0)
#undef ARGAND_FOR_FLOAT

}  // namespace argand::math
