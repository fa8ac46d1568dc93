// Derives the shape of a convolution from an op's arguments, with all checks of the user's input.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/api/conv.h"

namespace argand::ops {

struct ConvOptions {
  IntArrayRef stride, padding, dilation;
  int64_t groups;
};

// input [N, C, spatial...], weight [O, C / groups, kernel...].
ConvShape conv_shape(const char* op, IntArrayRef input, IntArrayRef weight, const ConvOptions& o);
// [N, O, output spatial...]
Dims conv_output_sizes(const ConvShape& s, size_t spatial);
// The input size that a transposed convolution gives.
Dims conv_transpose_sizes(const char* op, IntArrayRef input, IntArrayRef weight, const ConvOptions& o,
                          IntArrayRef output_padding);

}  // namespace argand::ops
