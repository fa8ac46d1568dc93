// Rounding, comparing, dividing: exact operations, and the conventions PyTorch has for them.
#pragma once
#include "argand/kernels/math/base.h"

namespace argand::math {

namespace detail {
template <Integer T>
ARGAND_MATH T wrapping_negative(T x) {
  return static_cast<T>(0 - static_cast<unsigned long long>(x));
}
template <Integer T>
ARGAND_MATH bool is_negative(T x) {
  if constexpr (kSigned<T>)
    return x < 0;
  else
    return false;
}
}  // namespace detail

// clang-format off
template <detail::Floating T> ARGAND_MATH bool isnan(T x) { return x != x; }
template <detail::Floating T> ARGAND_MATH bool isinf(T x) { return detail::magnitude(x) == detail::kInfinity<T>; }
template <detail::Floating T> ARGAND_MATH bool isfinite(T x) { return detail::magnitude(x) < detail::kInfinity<T>; }
template <detail::Integer T> ARGAND_MATH bool isnan(T) { return false; }
template <detail::Integer T> ARGAND_MATH bool isinf(T) { return false; }
template <detail::Integer T> ARGAND_MATH bool isfinite(T) { return true; }

ARGAND_MATH float floor(float x) { return ARGAND_BUILTIN(floorf)(x); }
ARGAND_MATH double floor(double x) { return ARGAND_BUILTIN(floor)(x); }
ARGAND_MATH float ceil(float x) { return ARGAND_BUILTIN(ceilf)(x); }
ARGAND_MATH double ceil(double x) { return ARGAND_BUILTIN(ceil)(x); }
ARGAND_MATH float trunc(float x) { return ARGAND_BUILTIN(truncf)(x); }
ARGAND_MATH double trunc(double x) { return ARGAND_BUILTIN(trunc)(x); }
ARGAND_MATH float round(float x) { return ARGAND_BUILTIN(rintf)(x); }  // halves to even
ARGAND_MATH double round(double x) { return ARGAND_BUILTIN(rint)(x); }
ARGAND_MATH float sqrt(float x) { return ARGAND_BUILTIN(sqrtf)(x); }
ARGAND_MATH double sqrt(double x) { return ARGAND_BUILTIN(sqrt)(x); }
template <detail::Integer T> ARGAND_MATH T floor(T x) { return x; }
template <detail::Integer T> ARGAND_MATH T ceil(T x) { return x; }
template <detail::Integer T> ARGAND_MATH T trunc(T x) { return x; }
template <detail::Integer T> ARGAND_MATH T round(T x) { return x; }
// clang-format on
template <detail::Floating T>
ARGAND_MATH T rsqrt(T x) {
  return 1 / sqrt(x);
}

template <detail::Floating T>
ARGAND_MATH T abs(T x) {
  return detail::magnitude(x);
}
template <detail::Integer T>
ARGAND_MATH T abs(T x) {  // the smallest integer, which has no opposite, stays as it is
  if constexpr (!detail::kSigned<T>)
    return x;
  else
    return x < 0 ? detail::wrapping_negative(x) : x;
}
template <class T>
requires(detail::Floating<T> || detail::Integer<T>) ARGAND_MATH T sign(T x) {  // -1, 0 or 1; 0 for NaN
  return static_cast<T>((T(0) < x) - (x < T(0)));
}
template <detail::Floating T>
ARGAND_MATH bool sign_bit(T x) {  // also of zero
  return (detail::bits_of(x) & detail::kSignBit<T>) != 0;
}
template <detail::Integer T>
ARGAND_MATH bool sign_bit(T x) {
  return x < T(0);
}
// Functions that std::complex has too (complex.h).
template <class T>
requires(detail::Floating<T> || detail::Integer<T>) ARGAND_MATH T conjugate(T x) { return x; }
template <detail::Floating T>
ARGAND_MATH T angle(T x) {  // 0 or pi
  return isnan(x) ? x : x < 0 ? kPi<T> : T(0);
}
template <detail::Floating T>
ARGAND_MATH T copysign(T x, T sign) {
  return detail::with_sign_of(x, sign);
}

// A NaN in either operand is the result.
template <class T>
ARGAND_MATH T min(T a, T b) {
  const T smaller = a < b ? a : b;
  return isnan(a) ? a : smaller;
}
template <class T>
ARGAND_MATH T max(T a, T b) {
  const T larger = a > b ? a : b;
  return isnan(a) ? a : larger;
}

// The square root of a^2 + b^2; infinite if either is, even beside a NaN.
ARGAND_MATH float hypot(float a, float b) {
  const double x = a, y = b;
  const float magnitude_a = detail::magnitude(a), magnitude_b = detail::magnitude(b);
  const float r = static_cast<float>(ARGAND_BUILTIN(sqrt)(x * x + y * y));  // double has room for the squares
  const bool infinite = (magnitude_a == detail::kInfinity<float>) | (magnitude_b == detail::kInfinity<float>);
  return detail::select(infinite, detail::kInfinity<float>, r);
}
ARGAND_MATH double hypot(double a, double b) { return ARGAND_BUILTIN(hypot)(a, b); }

// The next number after x in the direction of y.
ARGAND_MATH float nextafter(float x, float y) { return ARGAND_BUILTIN(nextafterf)(x, y); }
ARGAND_MATH double nextafter(double x, double y) { return ARGAND_BUILTIN(nextafter)(x, y); }

// a - trunc(a / b) b, exact; it has the sign of a.
ARGAND_MATH float fmod(float a, float b) { return ARGAND_BUILTIN(fmodf)(a, b); }
ARGAND_MATH double fmod(double a, double b) { return ARGAND_BUILTIN(fmod)(a, b); }

// a - floor(a / b) b: Python's a % b; it has the sign of b.
template <detail::Floating T>
ARGAND_MATH T remainder(T a, T b) {
  const T m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

// Python's a // b: floor of the exact quotient, rounded; a / b for b = 0.
template <detail::Floating T>
ARGAND_MATH T floor_div(T a, T b) {
  const T m = fmod(a, b);
  const T below = m != 0 && (m < 0) != (b < 0) ? T(1) : T(0);
  const T quotient = (a - m) / b - below;  // an integer but for rounding
  const T down = floor(quotient);
  const T nearest = quotient - down > T(0.5) ? down + 1 : down;
  const T result = quotient == 0 ? detail::with_sign_of(T(0), a / b) : nearest;
  return b == 0 ? a / b : result;
}

// For integers: 0 for b = 0, for which an op throws earlier, and wrapping for the smallest integer over -1.
template <detail::Integer T>
ARGAND_MATH T fmod(T a, T b) {
  if constexpr (detail::kSigned<T>) {
    if (b == -1) return 0;
  }
  return b == 0 ? T(0) : static_cast<T>(a % b);
}
template <detail::Integer T>
ARGAND_MATH T remainder(T a, T b) {
  const T m = fmod(a, b);
  return m != 0 && detail::is_negative(m) != detail::is_negative(b) ? static_cast<T>(m + b) : m;
}
template <detail::Integer T>
ARGAND_MATH T floor_div(T a, T b) {
  if constexpr (detail::kSigned<T>) {
    if (b == -1) return detail::wrapping_negative(a);
  }
  if (b == 0) return 0;
  const T below = a % b != 0 && detail::is_negative(a) != detail::is_negative(b) ? T(1) : T(0);
  return static_cast<T>(a / b - below);
}
template <detail::Integer T>
ARGAND_MATH T trunc_div(T a, T b) {
  if constexpr (detail::kSigned<T>) {
    if (b == -1) return detail::wrapping_negative(a);
  }
  return b == 0 ? T(0) : static_cast<T>(a / b);
}
template <detail::Floating T>
ARGAND_MATH T trunc_div(T a, T b) {
  return trunc(a / b);
}

// Integer powers wrap.  A negative exponent rounds the result towards zero: 0 but for the bases 1 and -1, and for 0,
// which has no such power.
template <detail::Integer T>
ARGAND_HD inline T pow(T x, T y) {
  if constexpr (detail::kSigned<T>) {
    if (y < 0) return x == 1 || (x == -1 && y % 2 == 0) ? T(1) : x == -1 ? x : T(0);
  }
  unsigned long long result = 1, base = static_cast<unsigned long long>(x);
  for (auto n = static_cast<unsigned long long>(y); n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return static_cast<T>(result);
}

}  // namespace argand::math
