// Modified Bessel functions of the first kind: rare functions, one element at a time.
#pragma once
#include "argand/kernels/math/composite.h"

namespace argand::math {

namespace detail {

// I_n(x) = (x/2)^n / n! (1 + z / (1 (n+1)) (1 + z / (2 (n+2)) (1 + ...))), z = x^2 / 4: all terms positive.  For large
// x e^x / sqrt(2 pi x) times the asymptotic series 1 - (m-1)/(8x) (1 - (m-9)/(2 8x) (1 - ...)), m = 4 n^2, of which the
// smallest term is below 2^-53 from x = 30 on.
template <int kOrder>
ARGAND_HD inline double bessel_i(double x) {
  const double a = magnitude(x);
  if (a == kInfinity<double>) return kOrder == 1 ? x : a;
  double result;
  if (a < 30) {
    const double z = a * a / 4;
    double term = kOrder == 0 ? 1 : a / 2;
    result = term;
    for (int k = 1; term > result * 0x1p-55; ++k) {
      term *= z / (k * (k + kOrder));
      result += term;
    }
  } else {
    double term = 1, sum = 1;
    for (int k = 1; k < 30 && magnitude(term) > 0x1p-55; ++k) {
      term *= -(4 * kOrder * kOrder - (2 * k - 1.0) * (2 * k - 1.0)) / (8 * k * a);
      sum += term;
    }
    // In two halves: e^x overflows before the result does.
    const double half = exp(a / 2);
    result = half / sqrt(2 * kPi<double> * a) * sum * half;
  }
  return kOrder == 1 && x < 0 ? -result : result;
}

}  // namespace detail

ARGAND_HD inline double bessel_i0(double x) { return detail::bessel_i<0>(x); }
ARGAND_HD inline double bessel_i1(double x) { return detail::bessel_i<1>(x); }
ARGAND_HD inline float bessel_i0(float x) { return static_cast<float>(bessel_i0(static_cast<double>(x))); }
ARGAND_HD inline float bessel_i1(float x) { return static_cast<float>(bessel_i1(static_cast<double>(x))); }

}  // namespace argand::math
