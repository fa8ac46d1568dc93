// pow with the special cases of IEEE 754 (and C).  float in double without branches: 2^(y log2 |x|), the sign apart;
// double forwards to <cmath>.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/exp_log.h"

namespace argand::math {

namespace detail {

// log2 of a positive finite number, to 2^-44 of its value: with 1 + f the mantissa and s = f / (2 + f), 2 atanh(s) /
// ln 2.
ARGAND_MATH double pow_log2(double x) {
  const LogReduced<double> m = log_reduce(x);
  const double s = m.f / (2 + m.f);
  return m.k + s * polynomial(s * s, 0x1.71547652b8251p+1, 0x1.ec709dc53c8eep-1, 0x1.2776c29308606p-1,
                              0x1.a61a2ef9bdb7fp-2, 0x1.47954dd1d821cp-2, 0x1.21b16b4d96374p-2);
}

// 2^x to 2^-34 of its value, for |x| <= 1000 or NaN
ARGAND_MATH double pow_exp2(double x) {
  const Rounded<double> n = round_to_integer(x);
  const double r = x - n.value;
  const double p = polynomial(r, 0x1.62e42ff0e1da3p-1, 0x1.ebfbe07773509p-3, 0x1.c6b08abf558b2p-5, 0x1.3b29f3ab5e69dp-7,
                              0x1.5d8a87c3887f3p-10, 0x1.445c79588aabap-13, 0x1.fde38a6bda769p-17);
  return (1 + r * p) * power_of_two<double>(n.integer);
}

}  // namespace detail

ARGAND_MATH float pow(float x, float y) {
  const double a = detail::magnitude(x);
  const double regular = detail::pow_log2(a);
  const double limit = detail::select(a == 0, -detail::kInfinity<double>, a);  // infinity, NaN
  const double logarithm = detail::select((a > 0) & (a < detail::kInfinity<double>), regular, limit);
  const float p = static_cast<float>(detail::pow_exp2(detail::at_most(-detail::at_most(-y * logarithm, 200.0), 200.0)));

  const bool integer = __builtin_truncf(y) == y;  // an infinite y counts, as even
  const float half = 0.5f * y;
  const bool odd = integer & (__builtin_truncf(half) != half);
  const bool even = integer | (a == 0) | (a == detail::kInfinity<double>);
  const float of_negative = detail::select(odd, -p, detail::select(even, p, detail::kNaN<float>));
  const bool negative = (detail::bits_of(x) & detail::kSignBit<float>) != 0;
  const float r = detail::select(negative & (x == x), of_negative, p);
  const bool one = (x == 1) | (y == 0) | ((x == -1) & (detail::magnitude(y) == detail::kInfinity<float>));
  return detail::select(one, 1.0f, r);
}
ARGAND_MATH double pow(double x, double y) { return std::pow(x, y); }

}  // namespace argand::math
