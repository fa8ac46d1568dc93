// The common part of Half and BFloat16: 16-bit storage types that compute through float.  Each operation converts its
// operands to float, computes there and rounds the result once (to nearest, ties to even); for + - * / that equals
// rounding the exact result, since float has more than twice the digits of either.
#pragma once
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include "argand/base/str.h"

namespace argand {

struct FromBits {};
inline constexpr FromBits from_bits{};  // tag: `Half(0x3c00, from_bits)` is the number 1

// A reduced float is a struct that declares itself as one.  Mixed with float, double or integers it becomes a float, as
// C++ converts it; comparisons are float's (NaN compares unequal, -0 equals 0).
template <class T>
concept ReducedFloat = requires {
  typename T::argand_reduced_float_tag;
};

// clang-format off
template <ReducedFloat T> constexpr T operator+(T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); }
template <ReducedFloat T> constexpr T operator-(T a, T b) { return T(static_cast<float>(a) - static_cast<float>(b)); }
template <ReducedFloat T> constexpr T operator*(T a, T b) { return T(static_cast<float>(a) * static_cast<float>(b)); }
template <ReducedFloat T> constexpr T operator/(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }
template <ReducedFloat T> constexpr T operator+(T a) { return a; }
template <ReducedFloat T> constexpr T operator-(T a) { return T(static_cast<uint16_t>(a.x ^ 0x8000u), from_bits); }
template <ReducedFloat T> constexpr T& operator+=(T& a, float b) { return a = T(static_cast<float>(a) + b); }
template <ReducedFloat T> constexpr T& operator-=(T& a, float b) { return a = T(static_cast<float>(a) - b); }
template <ReducedFloat T> constexpr T& operator*=(T& a, float b) { return a = T(static_cast<float>(a) * b); }
template <ReducedFloat T> constexpr T& operator/=(T& a, float b) { return a = T(static_cast<float>(a) / b); }
// clang-format on

namespace detail {
// The members of std::numeric_limits that both share.
struct ReducedFloatLimits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int radix = 2;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
};
}  // namespace detail

template <ReducedFloat T>
void append(std::string& out, T value) {
  append(out, static_cast<float>(value));
}

}  // namespace argand
