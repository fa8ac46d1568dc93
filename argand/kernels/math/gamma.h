// lgamma, digamma, erfinv: rare functions, one element at a time.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/erf.h"
#include "argand/kernels/math/exp_log.h"

namespace argand::math {

// log |gamma(x)|; infinite at 0, -1, -2, ...  Not std::lgamma where that writes the global variable signgam: a data
// race.
ARGAND_MATH double lgamma(double x) {
#if defined(__GLIBC__)
  int sign;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}
ARGAND_MATH float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }

// The derivative of log gamma; NaN at -1, -2, ..., infinite with the opposite sign at the zeros.
// psi(x) = psi(x + 1) - 1/x up to x >= 12, then the asymptotic series log x - 1/(2x) - sum B_2k / (2k x^2k), k = 1
// ... 7.
inline double digamma(double x) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  if (x == 0) return -detail::with_sign_of(detail::kInfinity<double>, x);
  double result = 0;
  if (x < 0) {  // psi(x) = psi(1 - x) - pi / tan(pi x)
    const double fraction = x - std::trunc(x);
    if (fraction == 0) return detail::kNaN<double>;
    result = -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 12; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * detail::polynomial(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  return result + (std::log(x) - 0.5 / x - series);
}
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

// The y with erf(y) = x.  A first guess (Winitzki, "A handy approximation for the error function and its inverse",
// 2008) is good to 0.002; each step of Halley's method triples the digits.  Near 1 the steps follow erfc, whose digits
// do not run out there: 1 - |x| is exact.
inline double erfinv(double x) {
  constexpr double kHalfSqrtPi = 0x1.c5bf891b4ef6bp-1;
  const double a = detail::magnitude(x);
  if (!(a < 1)) return a == 1 ? detail::with_sign_of(detail::kInfinity<double>, x) : detail::kNaN<double>;
  constexpr double kFit = 0.147;
  const double l = std::log((1 - a) * (1 + a));
  const double t = 2 / (2 * std::acos(0.0) * kFit) + 0.5 * l;
  double y = std::sqrt(std::sqrt(t * t - l / kFit) - t);
  if (a < 1e-3) y = kHalfSqrtPi * a;
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error * kHalfSqrtPi * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return detail::with_sign_of(y, x);
}
inline float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }

}  // namespace argand::math
