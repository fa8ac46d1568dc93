// exp, exp2, expm1 and log, log2, log10, log1p without branches.
//
// Exponentials: x = n ln 2 + r with |r| <= ln(2)/2, e^x = 2^n e^r.  ln 2 is held in two parts, the first so short that
// n times it is exact, and what rounding took from r is kept (r_low). Logarithms: x = 2^k m with sqrt(1/2) <= m <
// sqrt(2), log x = k ln 2 + log m; the same two parts of ln 2. The polynomials come from tools/math/minimax.py.
#pragma once
#include "argand/kernels/math/base.h"

namespace argand::math {

namespace detail {

template <class T>
struct Ln2;
template <>
struct Ln2<float> {
  static constexpr float kHigh = 0x1.62e4p-1f, kLow = 0x1.7f7d1cp-20f, kInverse = 0x1.715476p+0f;
};
template <>
struct Ln2<double> {
  static constexpr double kHigh = 0x1.62e42fefa38p-1, kLow = 0x1.ef35793c7673p-45, kInverse = 0x1.71547652b82fep+0;
};

template <class T>
struct ExpReduced {
  T r, r_low;
  Bits<T> n;
};

// REQUIRES: |x| small enough for n to have the 8 (float) or 11 (double) digits that kHigh leaves free, or x is NaN.
template <class T>
ARGAND_MATH ExpReduced<T> exp_reduce(T x) {
  const Rounded<T> n = round_to_integer(x * Ln2<T>::kInverse);
  const T high = x - n.value * Ln2<T>::kHigh;
  const T low = n.value * Ln2<T>::kLow;
  const T r = high - low;
  return {r, (high - r) - low, n.integer};
}

// (e^r - 1 - r) / r^2
ARGAND_MATH float exp_tail(float r) {
  return polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558aap-5f, 0x1.123984p-7f, 0x1.6a53d6p-10f);
}
ARGAND_MATH double exp_tail(double r) {
  return polynomial(r, 0x1p-1, 0x1.555555555555ap-3, 0x1.5555555555529p-5, 0x1.111111110f161p-7, 0x1.6c16c16c2a3fdp-10,
                    0x1.a01a01b1e714bp-13, 0x1.a01a01429ac26p-16, 0x1.71ddf3819532ep-19, 0x1.27e5adb68fb59p-22,
                    0x1.af66c5726d561p-26, 0x1.1e3657853da31p-29);
}

// A number as the sum of two, the second some 2^-24 (float) or 2^-53 (double) of the first: what rounding took from it.
template <class T>
struct Pair {
  T high, low;
};
template <class T>
ARGAND_MATH Pair<T> add_exactly(T larger, T smaller) {
  const T sum = larger + smaller;
  return {sum, (larger - sum) + smaller};
}

// e^r - 1
template <class T>
ARGAND_MATH T expm1_reduced(const ExpReduced<T>& x) {
  return x.r + (x.r_low + x.r * x.r * exp_tail(x.r));
}
template <class T>
ARGAND_MATH Pair<T> expm1_reduced_pair(const ExpReduced<T>& x) {
  return add_exactly(x.r, x.r_low + x.r * x.r * exp_tail(x.r));
}

// y 2^n where the result may overflow or be denormal: in two steps, each of which is a normal number.
template <class T>
ARGAND_MATH T scale(T y, Bits<T> n) {
  constexpr Bits<T> kOffset = Bits<T>{2} << Float<T>::kFraction;  // makes n positive, so that its half is a plain shift
  const Bits<T> half = ((n + kOffset) >> 1) - (kOffset >> 1);
  return y * power_of_two<T>(half) * power_of_two<T>(n - half);
}

template <class T>
struct ExpRange;  // below kLow e^x rounds to 0, above kHigh to infinity: the logarithms of half the smallest and of the
                  // largest
template <>
struct ExpRange<float> {
  static constexpr float kLow = -0x1.9fe368p+6f, kHigh = 0x1.62e42ep+6f;
};
template <>
struct ExpRange<double> {
  static constexpr double kLow = -0x1.74910d52d3051p+9, kHigh = 0x1.62e42fefa39efp+9;
};

// Results beyond the range are selected at the end: underflow and overflow in between would give the same, but slowly.
template <class T>
ARGAND_MATH T exp(T x) {
  const bool out = (x < ExpRange<T>::kLow) | (x > ExpRange<T>::kHigh);
  const ExpReduced<T> e = exp_reduce(select(out, T(0), x));
  const T beyond = select(x < 0, T(0), kInfinity<T>);
  return select(out, beyond, scale(1 + expm1_reduced(e), e.n));
}

// e^x for an x whose result is a normal number
template <class T>
ARGAND_MATH T exp_normal(T x) {
  const ExpReduced<T> e = exp_reduce(x);
  return (1 + expm1_reduced(e)) * power_of_two<T>(e.n);
}

// e^(x + correction), both at most 0, the correction at least -0.08, so that the polynomial still serves
template <class T>
ARGAND_MATH T exp_corrected(T x, T correction) {
  const bool zero = x < ExpRange<T>::kLow;
  const ExpReduced<T> e = exp_reduce(select(zero, T(0), x));
  const Pair<T> r = add_exactly(e.r, correction);
  return select(zero, T(0), scale(1 + expm1_reduced(ExpReduced<T>{r.high, r.low + e.r_low, e.n}), e.n));
}

// e^x in two parts, for x <= 0; below -40 the second is 0
template <class T>
ARGAND_MATH Pair<T> exp_pair(T x) {
  const bool zero = x < ExpRange<T>::kLow;
  const ExpReduced<T> e = exp_reduce(select(zero, T(0), x));
  const Pair<T> p = expm1_reduced_pair(e);
  const Pair<T> y = add_exactly(T(1), p.high);
  const T high = scale(y.high, e.n);
  const bool no_low = x < -40;
  const T low = select(no_low, T(0), y.low + p.low) * power_of_two<T>(no_low ? Bits<T>{0} : e.n);
  return {select(zero, T(0), high), low};
}

// e^x - 1 in two parts, for 0 <= x <= 40
template <class T>
ARGAND_MATH Pair<T> expm1_pair(T x) {
  const ExpReduced<T> e = exp_reduce(x);
  const Pair<T> p = expm1_reduced_pair(e);
  const T power = power_of_two<T>(e.n);
  const Pair<T> y = add_exactly(power - 1, power * p.high);
  return {y.high, y.low + power * p.low};
}

// 2^n (e^r - 1) + (2^n - 1), with one power of two put off because 2^128 is no number
template <class T>
ARGAND_MATH T expm1(T x) {
  constexpr T kMinusOne = -40;  // the result is -1 from here down, for both types
  const bool out = (x < kMinusOne) | (x > ExpRange<T>::kHigh);
  const ExpReduced<T> e = exp_reduce(select(out, T(0), x));
  const T half_scale = power_of_two<T>(e.n - 1);
  const T y = 2 * (half_scale * expm1_reduced(e) + (half_scale - T(0.5)));
  const T beyond = select(x < 0, T(-1), kInfinity<T>);
  return select(out, beyond, with_sign_of(select(e.n == 0, expm1_reduced(e), y), x));
}

// (2^r - 1) / r
ARGAND_MATH float exp2_tail(float r) {
  return polynomial(r, 0x1.62e430p-1f, 0x1.ebfbdcp-3f, 0x1.c6af78p-5f, 0x1.3b2dcep-7f, 0x1.5f0a60p-10f,
                    0x1.417f14p-13f);
}
ARGAND_MATH double exp2_tail(double r) {
  return polynomial(r, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58cp-3, 0x1.c6b08d704a1e2p-5, 0x1.3b2ab6fba5944p-7,
                    0x1.5d87fe78714e4p-10, 0x1.430912f525d51p-13, 0x1.ffcbfd578fe83p-17, 0x1.62c02fb28ffbbp-20,
                    0x1.b5231539e3193p-24, 0x1.e49d9f44e86edp-28, 0x1.ec9b6dd0504dcp-32, 0x1.03f2e4c85f8e0p-35);
}

template <class T>
ARGAND_MATH T exp2(T x) {
  constexpr T kLow = sizeof(T) == 4 ? T(-150) : T(-1075), kHigh = sizeof(T) == 4 ? T(128) : T(1024);
  const bool out = (x < kLow) | (x >= kHigh);
  const T inside = select(out, T(0), x);
  const Rounded<T> n = round_to_integer(inside);
  const T r = inside - n.value;
  const T beyond = select(x < 0, T(0), kInfinity<T>);
  return select(out, beyond, scale(1 + r * exp2_tail(r), n.integer));
}

template <class T>
struct LogReduced {
  T k, f;  // x = 2^k (1 + f)
};

// REQUIRES: x > 0 and finite; the result for any other x is meaningless.
template <class T>
ARGAND_MATH LogReduced<T> log_reduce(T x) {
  constexpr Bits<T> kOne = __builtin_bit_cast(Bits<T>, T(1));
  constexpr Bits<T> kSqrtHalf = __builtin_bit_cast(Bits<T>, T(0x1.6a09e667f3bcdp-1));
  constexpr T kDenormalScale = T(Bits<T>{1} << Float<T>::kFraction);
  const bool denormal = x < kSmallestNormal<T>;
  const Bits<T> b = bits_of(select(denormal, x * kDenormalScale, x)) + (kOne - kSqrtHalf);
  const T m = from_bits<T>((b & kFractionMask<T>)+kSqrtHalf);
  // The exponent becomes a number by way of the bits of 2^fraction + exponent: 64-bit integers have no conversion in
  // AVX2.
  const T shifted = from_bits<T>((b >> Float<T>::kFraction) | bits_of(kDenormalScale));
  const T bias = select(denormal, T(Float<T>::kBias + Float<T>::kFraction), T(Float<T>::kBias));
  return {shifted - (kDenormalScale + bias), m - 1};
}

// log(1 + f) = f - half_square + tail, where half_square = f^2 / 2 and tail is O(f^3)
template <class T>
struct LogParts {
  T half_square, tail;
};
ARGAND_MATH LogParts<float> log_parts(float f) {
  const float tail = polynomial(f, 0x1.555548p-2f, -0x1.000008p-2f, 0x1.99a47ep-3f, -0x1.555b9ap-3f, 0x1.233a50p-3f,
                                -0x1.fc3a86p-4f, 0x1.e6e434p-4f, -0x1.ddb662p-4f, 0x1.13d300p-4f);
  return {0.5f * f * f, f * f * f * tail};
}
// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2 s + s^3 p(s^2), and 2 s = f - s f = f - f^2/2 + s f^2/2.
ARGAND_MATH LogParts<double> log_parts(double f) {
  const double s = f / (2 + f);
  const double p = polynomial(s * s, 0x1.5555555555592p-1, 0x1.999999997ff5ap-2, 0x1.24924941dce96p-2,
                              0x1.c71c5217db953p-3, 0x1.74663c43c525ap-3, 0x1.39a1f7add4883p-3, 0x1.2f033cbc41bc5p-3);
  const double half_square = 0.5 * f * f;
  return {half_square, s * (half_square + s * s * p)};
}

// The logarithm of numbers that have none, or none by the formula: -> r for 0 < x < infinity
template <class T>
ARGAND_MATH T log_special(T x, T r) {
  const T beyond = select(x == 0, -kInfinity<T>, kNaN<T>);
  r = select(x < kInfinity<T>, r, x);
  return select(x > 0, r, beyond);
}

template <class T>
ARGAND_MATH T log(T x) {
  const LogReduced<T> m = log_reduce(x);
  const LogParts<T> p = log_parts(m.f);
  const T low = m.k * Ln2<T>::kLow + p.tail;
  return log_special(x, m.k * Ln2<T>::kHigh + (m.f - (p.half_square - low)));
}

// log1p(x) = log(u) + c / u where u + c = 1 + x exactly.  Of a tiny x, whose powers might be denormal, x is the result.
template <class T>
ARGAND_MATH T log1p(T x) {
  const bool small = magnitude(x) < power_of_two<T>(Bits<T>{0} - Float<T>::kFraction - 2);
  const T y = select(small, T(0), x);
  const T u = 1 + y;
  const T c = select(y > 1, 1 - (u - y), y - (u - 1));
  const LogReduced<T> m = log_reduce(u);
  const bool direct = m.k == 0;  // u is near 1, and y itself is the exact f
  const T f = select(direct, y, m.f);
  const LogParts<T> p = log_parts(f);
  const T low = p.tail + (m.k * Ln2<T>::kLow + select(direct, T(0), c / u));
  const T r = m.k * Ln2<T>::kHigh + (f - (p.half_square - low));
  return select(small, x, log_special(u, r));
}

// log(x) / log(base) for a base whose 1 / log is given in two parts.  log m is split as well, into a first part so
// short that its product with the first part of 1 / log is exact.
template <class T>
ARGAND_MATH T log_base(T x, T log_2, T log_2_low, T inverse, T inverse_low) {
  constexpr Bits<T> kShort = ~Bits<T>{0} << (Float<T>::kFraction / 2 + 1);
  const LogReduced<T> m = log_reduce(x);
  const LogParts<T> p = log_parts(m.f);
  const T high = from_bits<T>(bits_of(m.f - p.half_square) & kShort);
  const T low = ((m.f - high) - p.half_square) + p.tail;
  const T k_high = m.k * log_2;
  const T first = k_high + high * inverse;
  const T lost = (k_high - first) + high * inverse;
  return log_special(x, first + (lost + (m.k * log_2_low + ((low + high) * inverse_low + low * inverse))));
}

}  // namespace detail

ARGAND_MATH float exp(float x) { return detail::exp(x); }
ARGAND_MATH double exp(double x) { return detail::exp(x); }
ARGAND_MATH float exp2(float x) { return detail::exp2(x); }
ARGAND_MATH double exp2(double x) { return detail::exp2(x); }
ARGAND_MATH float expm1(float x) { return detail::expm1(x); }
ARGAND_MATH double expm1(double x) { return detail::expm1(x); }
ARGAND_MATH float log(float x) { return detail::log(x); }
ARGAND_MATH double log(double x) { return detail::log(x); }
ARGAND_MATH float log1p(float x) { return detail::log1p(x); }
ARGAND_MATH double log1p(double x) { return detail::log1p(x); }

// 1 / ln 2, 1 / ln 10 and log10(2): the first parts have half the digits, see log_base.
ARGAND_MATH float log2(float x) { return detail::log_base(x, 1.0f, 0.0f, 0x1.714p+0f, 0x1.47652cp-12f); }
ARGAND_MATH double log2(double x) { return detail::log_base(x, 1.0, 0.0, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26); }
ARGAND_MATH float log10(float x) {
  return detail::log_base(x, 0x1.344p-2f, 0x1.3509f8p-18f, 0x1.bcap-2f, 0x1.7b1526p-14f);
}
ARGAND_MATH double log10(double x) {
  return detail::log_base(x, 0x1.34413509f6p-2, 0x1.9fef311f12b36p-42, 0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28);
}

}  // namespace argand::math
