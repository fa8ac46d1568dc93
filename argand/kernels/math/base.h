// Basics for the files of this folder: attributes, bits of floating-point numbers, polynomials.
// This file, basic.h, composite.h and device.h are compiled for CUDA devices too, by NVRTC, which has no
// standard headers: they include none there.
#pragma once
#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
#define ARGAND_MATH_DEVICE 1
#else
#define ARGAND_MATH_DEVICE 0
#include <cmath>
#endif

#if defined(__CUDACC__)
#define ARGAND_HD __host__ __device__
#define ARGAND_MATH ARGAND_HD __forceinline__
#else
#define ARGAND_HD
// Every function here is inlined wherever it is called, so that it is compiled for its caller's instruction set.
#define ARGAND_MATH [[gnu::always_inline]] inline
#endif

// A function of C's <math.h> that compilers know, and turn into instructions where they can.
#if ARGAND_MATH_DEVICE
#define ARGAND_BUILTIN(name) ::name
#else
#define ARGAND_BUILTIN(name) __builtin_##name
#endif

namespace argand::math {

template <class T>
inline constexpr T kPi = T(0x1.921fb54442d18p+1);

namespace detail {

template <class T>
struct Float;
template <>
struct Float<float> {
  using Bits = unsigned;
  static constexpr int kFraction = 23, kBias = 127;
};
template <>
struct Float<double> {
  using Bits = unsigned long long;
  static constexpr int kFraction = 52, kBias = 1023;
};

template <class T>
using Bits = typename Float<T>::Bits;

template <class T>
inline constexpr Bits<T> kSignBit = Bits<T>{1} << (sizeof(T) * 8 - 1);
template <class T>
inline constexpr Bits<T> kFractionMask = (Bits<T>{1} << Float<T>::kFraction) - 1;
template <class T>
inline constexpr T kInfinity = __builtin_bit_cast(T, ((Bits<T>{2} * Float<T>::kBias + 1) << Float<T>::kFraction));
template <class T>
inline constexpr T kNaN = __builtin_bit_cast(T, Bits<T>{Bits<T>{4 * Float<T>::kBias + 3} << (Float<T>::kFraction - 1)});
template <class T>
inline constexpr T kSmallestNormal = __builtin_bit_cast(T, Bits<T>{1} << Float<T>::kFraction);

template <class T>
concept Floating = requires {
  Float<T>::kBias;
};
template <class T>
concept Integer = !Floating<T> && requires(T x) {
  requires static_cast<T>(1) / 2 == 0;
};
template <class T>
inline constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);

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
// c ? a : b, without a branch.  GCC turns `c ? constant : x` into two paths and computes the following code on each; in
// a vectorised loop it computes both for all elements, also for an x that the constant should replace, which costs
// hundreds of cycles if an intermediate number becomes denormal or infinite.
template <class T>
ARGAND_MATH T select(bool c, T a, T b) {
  const Bits<T> mask = Bits<T>{0} - static_cast<Bits<T>>(c);
  return from_bits<T>((bits_of(a) & mask) | (bits_of(b) & ~mask));
}
// The smaller; NaN stays NaN.
template <class T>
ARGAND_MATH T at_most(T x, T limit) {
  return select(x > limit, limit, x);
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

}  // namespace detail
}  // namespace argand::math
