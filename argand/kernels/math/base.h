// What the files of this folder are written with: attributes, bits of floating-point numbers, polynomials.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__CUDACC__)
#define ARGAND_HD __host__ __device__
#else
#define ARGAND_HD
#endif
// Every function here is inlined wherever it is called, so that it is compiled for its caller's instruction set.
#define ARGAND_MATH [[gnu::always_inline]] ARGAND_HD inline

namespace argand::math::detail {

template <class T>
struct Float;
template <>
struct Float<float> {
  using Bits = uint32_t;
  static constexpr int kFraction = 23, kBias = 127;
};
template <>
struct Float<double> {
  using Bits = uint64_t;
  static constexpr int kFraction = 52, kBias = 1023;
};

template <class T>
using Bits = typename Float<T>::Bits;

template <class T>
inline constexpr Bits<T> kSignBit = Bits<T>{1} << (sizeof(T) * 8 - 1);
template <class T>
inline constexpr Bits<T> kFractionMask = (Bits<T>{1} << Float<T>::kFraction) - 1;
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

template <class T>
ARGAND_MATH Bits<T> bits_of(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}
template <class T>
ARGAND_MATH T from_bits(Bits<T> b) {
  return __builtin_bit_cast(T, b);
}
template <class T>
ARGAND_MATH T magnitude(T x) {
  return from_bits<T>(bits_of(x) & ~kSignBit<T>);
}
template <class T>
ARGAND_MATH T with_sign_of(T x, T sign) {
  return from_bits<T>((bits_of(x) & ~kSignBit<T>) | (bits_of(sign) & kSignBit<T>));
}
// 2^n for an n between the exponents of the smallest normal and the largest number, in two's complement.
template <class T>
ARGAND_MATH T power_of_two(Bits<T> n) {
  return from_bits<T>((n + Float<T>::kBias) << Float<T>::kFraction);
}

// c[0] + c[1] x + c[2] x^2 + ...
template <class T>
ARGAND_MATH T polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
ARGAND_MATH T polynomial(T x, T c0, Rest... rest) {
  return c0 + x * polynomial(x, rest...);
}

// Rounds to an integer by adding a number so large that its last place is 1.  |x| < 2^22 (float), 2^51 (double).
template <class T>
struct Rounded {
  T value;
  Bits<T> integer;  // the same in two's complement
};
template <class T>
ARGAND_MATH Rounded<T> round_to_integer(T x) {
  constexpr T kShift = static_cast<T>(Bits<T>{3} << (Float<T>::kFraction - 1));
  const T shifted = x + kShift;
  return {shifted - kShift, bits_of(shifted) - __builtin_bit_cast(Bits<T>, kShift)};
}

}  // namespace argand::math::detail
