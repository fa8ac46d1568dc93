// The base of every frontend header: ATen in namespace torch.
#pragma once
#include "ATen/ATen.h"
#include "torch/autograd.h"

namespace torch {
// Dtypes by the bits of their elements.
inline constexpr auto kU8 = kByte;
inline constexpr auto kI8 = kChar;
inline constexpr auto kI16 = kShort;
inline constexpr auto kI32 = kInt;
inline constexpr auto kI64 = kLong;
inline constexpr auto kF16 = kHalf;
inline constexpr auto kF32 = kFloat;
inline constexpr auto kF64 = kDouble;
}  // namespace torch
