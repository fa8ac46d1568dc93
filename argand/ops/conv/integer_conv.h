// Convolutions of int64 tensors, exact (modulo 2^64) and without gradients.
#pragma once
#include "argand/ops/conv/conv_shape.h"

namespace argand::ops {

// input [N, C, spatial...], weight [O, C / groups, kernel...], bias [O] or undefined.
Tensor integer_conv(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvOptions& options);
// input [N, C, spatial...], weight [C, O / groups, kernel...]; `sizes` are the result's.
Tensor integer_conv_transpose(const Tensor& input, const Tensor& weight, IntArrayRef sizes, const ConvOptions& options);

}  // namespace argand::ops
