// Bits and divisors of integers, and closeness of numbers.
#pragma once
#include "argand/kernels/math/basic.h"

namespace argand::math {

template <detail::Integer T>
ARGAND_MATH T bit_not(T x) {
  return static_cast<T>(~x);
}
ARGAND_MATH bool bit_not(bool x) { return !x; }

// 0 for a shift that is negative or as wide as T.
template <detail::Integer T>
ARGAND_MATH T shift_left(T x, T by) {
  constexpr T kWidth = sizeof(T) * 8;
  return by < 0 || by >= kWidth ? T(0) : static_cast<T>(static_cast<unsigned long long>(x) << by);
}
// The sign for a shift that is negative or as wide as T.
template <detail::Integer T>
ARGAND_MATH T shift_right(T x, T by) {
  constexpr T kWidest = sizeof(T) * 8 - 1;
  return static_cast<T>(x >> (by < 0 || by > kWidest ? kWidest : by));
}

template <detail::Integer T>
ARGAND_HD inline T gcd(T x, T y) {
  x = abs(x), y = abs(y);
  while (y != 0) {
    const T rest = static_cast<T>(x % y);
    x = y, y = rest;
  }
  return abs(x);
}
template <detail::Integer T>
ARGAND_HD inline T lcm(T x, T y) {
  const T divisor = gcd(x, y);
  return divisor == 0
             ? T(0)
             : abs(static_cast<T>(static_cast<unsigned long long>(x / divisor) * static_cast<unsigned long long>(y)));
}

template <detail::Floating T>
ARGAND_MATH bool is_close(T a, T b, T relative, T absolute, T equal_nan) {
  // An infinite difference is within no tolerance, not even an infinite one.
  const T error = abs(a - b);
  const bool near = isfinite(error) && error <= absolute + abs(relative * b);
  return a == b || near || (equal_nan != 0 && isnan(a) && isnan(b));
}

}  // namespace argand::math
