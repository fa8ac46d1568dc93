// lgamma, erfinv: rare functions, one element at a time.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/erf.h"
#include "argand/kernels/math/exp_log.h"

namespace argand::math {

// log |gamma(x)|; infinite at 0, -1, -2, ...  std::lgamma of glibc writes the global variable signgam: a data race.
ARGAND_MATH double lgamma(double x) {
#if defined(__GLIBC__)
  int sign;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}
ARGAND_MATH float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }

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
