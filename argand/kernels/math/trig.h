// sin, cos, tan and their inverses.  float is computed in double without branches; double forwards to <cmath>.
#pragma once
#include "argand/kernels/math/basic.h"
#include "argand/kernels/math/exp_log.h"

namespace argand::math {

namespace detail {

// Note [Reducing an angle]
// x = n pi/2 + r with |r| <= pi/4, for every float, the largest too, and r good to some 2^-53 however close x is to a
// multiple of pi/2 (no float is closer than about 2^-30).
//   2/pi is cut into pieces of 29 bits.  A product of x (24 bits) with a piece is exact in double, and so is what
//   remains
// of it after taking away its integer part, which is why a huge x needs no special care: products too coarse to have a
// fraction vanish.  The sum of the remains, kept below 1/2 as it grows, is the fraction of x / (pi/2).  n is needed
// modulo 4 only: the same with a quarter of each product gives it, roughly, and the fraction makes it exact.
//   Five neighbouring pieces hold the bits that matter for half of the exponents, so x chooses between two sets.
struct ReducedAngle {
  double r;
  unsigned long long n;  // modulo 4
};

ARGAND_MATH double fraction(double x) { return x - __builtin_rint(x); }

ARGAND_MATH ReducedAngle reduce_angle(double x) {
  const bool huge = x >= 0x1p87;  // of two constants each: `?:` is the fastest form, and harmless
  const double p0 = x * (huge ? 0x1.4fe13abp-59 : 0x1.45f306dp-1);
  const double p1 = x * (huge ? 0x1.d1f534dp-88 : 0x1.9391054p-30);
  const double p2 = x * (huge ? 0x1.b81b6c5p-117 : 0x1.4fe13abp-59);
  const double p3 = x * (huge ? 0x1.5993c4p-148 : 0x1.d1f534dp-88);
  const double p4 = x * (huge ? 0x1.c820ff2p-175 : 0x1.b81b6c5p-117);
  double sum = fraction(fraction(p0) + fraction(p1));
  sum = fraction(sum + fraction(p2));
  sum = fraction(sum + p3) + p4;
  const double quarters = fraction(0.25 * p0) + fraction(0.25 * p1) + fraction(0.25 * p2) + 0.25 * p3;
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  return {sum * kHalfPi, round_to_integer(4 * quarters - sum).integer};
}

// (sin(r)/r - 1) / r^2 and (cos(r) - 1) / r^2 in r^2 have the same form: base + base r^2 p(r^2), base = r or 1.
ARGAND_MATH double sin_or_cos(double r, bool cosine) {
  const double z = r * r;
  const double p = polynomial(
      z, cosine ? -0x1.ffffffcb6e009p-2 : -0x1.5555554c6e506p-3, cosine ? 0x1.55553c71f24f6p-5 : 0x1.1111086829683p-7,
      cosine ? -0x1.6c07eefe8d40ep-10 : -0x1.a00f7d74f498ep-13, cosine ? 0x1.991616f814d17p-16 : 0x1.6cd18dc28b8b3p-19);
  const double base = cosine ? 1.0 : r;
  return base + base * (z * p);
}

// sin(|x| + shift pi/2)
ARGAND_MATH double sin_of_magnitude(float x, unsigned long long shift) {
  const ReducedAngle a = reduce_angle(magnitude(x));
  const unsigned long long n = a.n + shift;
  const double s = sin_or_cos(a.r, (n & 1) != 0);
  return from_bits<double>(bits_of(s) ^ ((n & 2) << 62));
}

// The angle of the point (x, y), from 0 to pi, for y >= 0; not for infinite or NaN operands, nor both 0.
ARGAND_MATH double angle(double y, double x) {
  constexpr double kPi = 0x1.921fb54442d18p+1;
  const double a = magnitude(x);
  const bool steep = y > a;
  const double t = select(steep, a, y) / select(steep, y, a);
  const double z = t * t;
  const double p = polynomial(z, -0x1.55553e4e9be01p-2, 0x1.9991fac9632b6p-3, -0x1.24219c7ec463dp-3,
                              0x1.c098fe9e4bf79p-4, -0x1.5831b553ada38p-4, 0x1.dac061687a036p-5, -0x1.febf03cdf911dp-6,
                              0x1.6593427dc43ecp-7, -0x1.d60ec7ff6abc7p-10);
  const double r = t + t * (z * p);
  const double in_quadrant = select(steep, kPi / 2 - r, r);
  const bool left = (bits_of(x) & kSignBit<double>) != 0;  // -0 too
  return select(left, kPi - in_quadrant, in_quadrant);
}

}  // namespace detail

ARGAND_MATH float sin(float x) {
  const float s = static_cast<float>(detail::sin_of_magnitude(x, 0));
  return detail::from_bits<float>(detail::bits_of(s) ^ (detail::bits_of(x) & detail::kSignBit<float>));
}
ARGAND_MATH float cos(float x) { return static_cast<float>(detail::sin_of_magnitude(x, 1)); }
ARGAND_MATH float tan(float x) {
  const detail::ReducedAngle a = detail::reduce_angle(detail::magnitude(x));
  const double s = detail::sin_or_cos(a.r, false), c = detail::sin_or_cos(a.r, true);
  const bool odd = (a.n & 1) != 0;
  const float t = static_cast<float>(detail::select(odd, -c, s) / detail::select(odd, s, c));
  return detail::from_bits<float>(detail::bits_of(t) ^ (detail::bits_of(x) & detail::kSignBit<float>));
}

ARGAND_MATH float atan(float x) {
  const double a = detail::magnitude(x);
  const float r = static_cast<float>(detail::angle(a, 1.0));
  return detail::select(x != x, x, detail::with_sign_of(r, x));
}
ARGAND_MATH float atan2(float y, float x) {
  const float a = detail::magnitude(x), b = detail::magnitude(y);
  const bool alike = a == b;  // both 0, both infinite, or 1 : 1 anyway
  const float on_axis = detail::select(a == 0, 0.0f, 1.0f);
  const double r =
      detail::angle(detail::select(alike, on_axis, b), detail::with_sign_of(detail::select(alike, 1.0f, a), x));
  return detail::select((x != x) | (y != y), x + y, detail::with_sign_of(static_cast<float>(r), y));
}
ARGAND_MATH float asin(float x) {
  const double a = detail::magnitude(x);
  return detail::with_sign_of(static_cast<float>(detail::angle(a, __builtin_sqrt((1 - a) * (1 + a)))), x);
}
ARGAND_MATH float acos(float x) {
  const double a = x;
  return static_cast<float>(detail::angle(__builtin_sqrt((1 - a) * (1 + a)), a));
}

ARGAND_MATH double sin(double x) { return std::sin(x); }
ARGAND_MATH double cos(double x) { return std::cos(x); }
ARGAND_MATH double tan(double x) { return std::tan(x); }
ARGAND_MATH double asin(double x) { return std::asin(x); }
ARGAND_MATH double acos(double x) { return std::acos(x); }
ARGAND_MATH double atan(double x) { return std::atan(x); }
ARGAND_MATH double atan2(double y, double x) { return std::atan2(y, x); }

}  // namespace argand::math
