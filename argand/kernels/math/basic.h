// Rounding, comparing, dividing: exact operations, and the conventions PyTorch has for them.
#pragma once
#include <type_traits>

#include "argand/kernels/math/base.h"

namespace argand::math {

namespace detail {
template <class T>
using IfFloat = std::enable_if_t<std::is_floating_point_v<T>, int>;
template <class T>
using IfInteger = std::enable_if_t<std::is_integral_v<T>, int>;
}  // namespace detail

// clang-format off
template <class T, detail::IfFloat<T> = 0> ARGAND_MATH bool isnan(T x) { return x != x; }
template <class T, detail::IfFloat<T> = 0> ARGAND_MATH bool isinf(T x) { return detail::magnitude(x) == detail::kInfinity<T>; }
template <class T, detail::IfFloat<T> = 0> ARGAND_MATH bool isfinite(T x) { return detail::magnitude(x) < detail::kInfinity<T>; }
template <class T, detail::IfInteger<T> = 0> ARGAND_MATH bool isnan(T) { return false; }
template <class T, detail::IfInteger<T> = 0> ARGAND_MATH bool isinf(T) { return false; }
template <class T, detail::IfInteger<T> = 0> ARGAND_MATH bool isfinite(T) { return true; }

ARGAND_MATH float floor(float x) { return __builtin_floorf(x); }
ARGAND_MATH double floor(double x) { return __builtin_floor(x); }
ARGAND_MATH float ceil(float x) { return __builtin_ceilf(x); }
ARGAND_MATH double ceil(double x) { return __builtin_ceil(x); }
ARGAND_MATH float trunc(float x) { return __builtin_truncf(x); }
ARGAND_MATH double trunc(double x) { return __builtin_trunc(x); }
ARGAND_MATH float round(float x) { return __builtin_rintf(x); }  // halves to even
ARGAND_MATH double round(double x) { return __builtin_rint(x); }
ARGAND_MATH float sqrt(float x) { return __builtin_sqrtf(x); }
ARGAND_MATH double sqrt(double x) { return __builtin_sqrt(x); }
// clang-format on
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T rsqrt(T x) {
  return 1 / sqrt(x);
}

template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T abs(T x) {
  return detail::magnitude(x);
}
template <class T, detail::IfInteger<T> = 0>
ARGAND_MATH T abs(T x) {  // the smallest integer, which has no opposite, stays as it is
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return x < 0 ? static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(x)) : x;
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
ARGAND_MATH T sign(T x) {  // -1, 0 or 1; 0 for NaN
  return static_cast<T>((T(0) < x) - (x < T(0)));
}
template <class T, detail::IfFloat<T> = 0>
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
  const float r = static_cast<float>(__builtin_sqrt(x * x + y * y));  // double has room for the squares
  return isinf(a) || isinf(b) ? detail::kInfinity<float> : r;
}
ARGAND_MATH double hypot(double a, double b) { return std::hypot(a, b); }

// The next number after x in the direction of y.
ARGAND_MATH float nextafter(float x, float y) { return std::nextafter(x, y); }
ARGAND_MATH double nextafter(double x, double y) { return std::nextafter(x, y); }

// a - trunc(a / b) b, exact; it has the sign of a.
ARGAND_MATH float fmod(float a, float b) { return std::fmod(a, b); }
ARGAND_MATH double fmod(double a, double b) { return std::fmod(a, b); }

// a - floor(a / b) b: Python's a % b; it has the sign of b.
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T remainder(T a, T b) {
  const T m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

// Python's a // b: floor of the exact quotient, rounded; a / b for b = 0.
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T floor_div(T a, T b) {
  const T m = fmod(a, b);
  const T below = m != 0 && (m < 0) != (b < 0) ? T(1) : T(0);
  const T quotient = (a - m) / b - below;  // an integer but for rounding
  const T down = floor(quotient);
  const T nearest = quotient - down > T(0.5) ? down + 1 : down;
  const T result = quotient == 0 ? detail::with_sign_of(T(0), a / b) : nearest;
  return b == 0 ? a / b : result;
}

// For integers: 0 for b = 0, where an op throws before it comes here, and wrapping for the smallest integer over -1.
template <class T, detail::IfInteger<T> = 0>
ARGAND_MATH T fmod(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return b == 0 ? T(0) : static_cast<T>(a % b);
}
template <class T, detail::IfInteger<T> = 0>
ARGAND_MATH T remainder(T a, T b) {
  const T m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? static_cast<T>(m + b) : m;
}
template <class T, detail::IfInteger<T> = 0>
ARGAND_MATH T floor_div(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(a));
  }
  if (b == 0) return 0;
  const T below = a % b != 0 && (a < 0) != (b < 0) ? T(1) : T(0);
  return static_cast<T>(a / b - below);
}
template <class T, detail::IfInteger<T> = 0>
ARGAND_MATH T trunc_div(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(T(0) - static_cast<std::make_unsigned_t<T>>(a));
  }
  return b == 0 ? T(0) : static_cast<T>(a / b);
}
template <class T, detail::IfFloat<T> = 0>
ARGAND_MATH T trunc_div(T a, T b) {
  return trunc(a / b);
}

}  // namespace argand::math
