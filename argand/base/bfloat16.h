// bfloat16 (1 sign, 8 exponent, 7 fraction bits: the upper half of a float) as a storage type; see reduced_float.h for
// its arithmetic.  Conversion from float rounds to nearest even, keeps denormals, overflows to infinity, keeps NaN
// (quiet).
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

#include "argand/base/reduced_float.h"

namespace argand {

namespace detail {

constexpr float bfloat16_bits_to_float(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

constexpr uint16_t float_to_bfloat16_bits(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x0040u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
}

}  // namespace detail

struct alignas(2) BFloat16 {
  using argand_reduced_float_tag = void;
  uint16_t x;

  BFloat16() = default;
  constexpr BFloat16(float value) : x(detail::float_to_bfloat16_bits(value)) {}
  constexpr BFloat16(uint16_t bits, FromBits) : x(bits) {}
  static constexpr FromBits from_bits() { return {}; }
  constexpr operator float() const { return detail::bfloat16_bits_to_float(x); }
};

}  // namespace argand

template <>
class std::numeric_limits<argand::BFloat16> : public argand::detail::ReducedFloatLimits {
  using BFloat16 = argand::BFloat16;
  static constexpr BFloat16 bits(uint16_t b) { return BFloat16(b, argand::from_bits); }

 public:
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;
  static constexpr BFloat16 min() { return bits(0x0080); }
  static constexpr BFloat16 lowest() { return bits(0xff7f); }
  static constexpr BFloat16 max() { return bits(0x7f7f); }
  static constexpr BFloat16 epsilon() { return bits(0x3c00); }
  static constexpr BFloat16 round_error() { return bits(0x3f00); }
  static constexpr BFloat16 infinity() { return bits(0x7f80); }
  static constexpr BFloat16 quiet_NaN() { return bits(0x7fc0); }
  static constexpr BFloat16 signaling_NaN() { return bits(0x7fa0); }
  static constexpr BFloat16 denorm_min() { return bits(0x0001); }
};
