// IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits) as a storage type; see reduced_float.h for its arithmetic.
// Conversions use integer and float operations only, without branches, so that loops over them vectorise.  They give
// the bits of the F16C instructions on every machine and in every denormal mode: round to nearest even, denormals kept,
// overflow to infinity, NaN stays NaN (quiet, upper payload bits kept).
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

#include "argand/base/reduced_float.h"

namespace argand {

namespace detail {

constexpr float half_bits_to_float(uint16_t h) {
  const uint32_t magnitude = h & 0x7fffu;
  const uint32_t sign = (h & 0x8000u) << 16;
  const bool special = magnitude >= 0x7c00u;                    // infinity, NaN
  const uint32_t rebias = special ? 0x70000000u : 0x38000000u;  // exponent bias 127 - 15, twice for all-ones
  const uint32_t quiet = magnitude > 0x7c00u ? 0x00400000u : 0u;
  const uint32_t normal = ((magnitude << 13) + rebias) | quiet;
  const uint32_t denormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  return std::bit_cast<float>(sign | (magnitude < 0x0400u ? denormal : normal));
}

constexpr uint16_t float_to_half_bits(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const bool nan = magnitude > 0x7f800000u;
  const uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 results are multiples of 2^-24, which is the last place of numbers in [0.5, 1): the addition rounds.
  const float small = std::bit_cast<float>(magnitude < 0x38800000u ? magnitude : 0u);
  const uint32_t denormal = std::bit_cast<uint32_t>(small + 0.5f) - 0x3f000000u;
  const uint32_t quiet_nan = 0x7e00u | ((magnitude >> 13) & 0x01ffu);
  uint32_t result = magnitude < 0x38800000u ? denormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // 65520, halfway between the largest half and 2^16
  result = nan ? quiet_nan : result;
  return static_cast<uint16_t>(sign | result);
}

}  // namespace detail

struct alignas(2) Half {
  using argand_reduced_float_tag = void;
  uint16_t x;

  Half() = default;
  constexpr Half(float value) : x(detail::float_to_half_bits(value)) {}
  constexpr Half(uint16_t bits, FromBits) : x(bits) {}
  static constexpr FromBits from_bits() { return {}; }
  constexpr operator float() const { return detail::half_bits_to_float(x); }
};

}  // namespace argand

template <>
class std::numeric_limits<argand::Half> : public argand::detail::ReducedFloatLimits {
  using Half = argand::Half;
  static constexpr Half bits(uint16_t b) { return Half(b, argand::from_bits); }

 public:
  static constexpr bool is_iec559 = true;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;
  static constexpr Half min() { return bits(0x0400); }
  static constexpr Half lowest() { return bits(0xfbff); }
  static constexpr Half max() { return bits(0x7bff); }
  static constexpr Half epsilon() { return bits(0x1400); }
  static constexpr Half round_error() { return bits(0x3800); }
  static constexpr Half infinity() { return bits(0x7c00); }
  static constexpr Half quiet_NaN() { return bits(0x7e00); }
  static constexpr Half signaling_NaN() { return bits(0x7d00); }
  static constexpr Half denorm_min() { return bits(0x0001); }
};
