// Layouts of the operands and results of convolutions.
#pragma once
#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"

namespace argand::ops {

// Strides of a result: its channels are last if those of an operand are, as in PyTorch; empty: contiguous.
Dims conv_strides(IntArrayRef sizes, const Tensor& a, const Tensor& b);

// The layout in which the device of `a` computes the convolution (kernels/blocks.h); `shape` is set to it. a
// and b are the operands.
ChannelLayout conv_layout(ConvShape& shape, const Tensor& a, const Tensor& b);

}  // namespace argand::ops
