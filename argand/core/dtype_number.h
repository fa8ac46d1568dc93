// The numbers that PyTorch's files, programs of TorchScript and the C interface have for dtypes and memory formats.
#pragma once
#include <cstdint>
#include <optional>

#include "argand/core/dtype.h"
#include "argand/core/shape.h"

namespace argand {

// 8 is complex32, 12 to 14 are quantized types; later ones are not supported either.
inline constexpr ScalarType kDtypeOfNumber[] = {kByte,
                                                kChar,
                                                kShort,
                                                kInt,
                                                kLong,
                                                kHalf,
                                                kFloat,
                                                kDouble,
                                                ScalarType::Undefined,
                                                kComplexFloat,
                                                kComplexDouble,
                                                kBool,
                                                ScalarType::Undefined,
                                                ScalarType::Undefined,
                                                ScalarType::Undefined,
                                                kBFloat16};

// Nothing for a number that stands for no dtype of this library.
constexpr std::optional<ScalarType> dtype_of_pytorch_number(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(std::size(kDtypeOfNumber))) return std::nullopt;
  const ScalarType t = kDtypeOfNumber[number];
  return t == ScalarType::Undefined ? std::nullopt : std::optional(t);
}
// -1 for Undefined.
constexpr int64_t pytorch_number(ScalarType t) {
  for (size_t i = 0; i < std::size(kDtypeOfNumber); ++i)
    if (t != ScalarType::Undefined && kDtypeOfNumber[i] == t) return static_cast<int64_t>(i);
  return -1;
}

// MemoryFormat's own numbers are PyTorch's.
constexpr std::optional<MemoryFormat> memory_format_of_pytorch_number(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(MemoryFormat::ChannelsLast3d)) return std::nullopt;
  return static_cast<MemoryFormat>(number);
}

}  // namespace argand
