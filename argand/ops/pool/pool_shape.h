// Derives the shape of a pooling from an op's arguments, with all checks of the user's input.
#pragma once
#include "argand/core/tensor.h"
#include "argand/kernels/api/pool.h"
#include "argand/ops/channel_layout.h"

namespace argand::ops {

struct PoolOptions {
  IntArrayRef kernel, stride, padding, dilation;
  bool ceil_mode;
};
// Input [C, spatial...] or [N, C, spatial...] with as many spatial dimensions as the kernel has sizes.
PoolShape pool_shape(const char* op, const Tensor& input, const PoolOptions& o);
PoolShape adaptive_pool_shape(const char* op, const Tensor& input, IntArrayRef output_size);

// ShapeError if an adaptive pooling gave no elements: it can have no gradient.
void check_gradient(const char* op, const Tensor& grad_output);

// The result's sizes: the input's with its last `spatial` ones replaced.
Dims pooled_sizes(const Tensor& input, const PoolShape& s, size_t spatial);

// Strides of a result of `sizes`: its channels are last if those of `t`, an operand, are; empty: contiguous.
Dims pooled_strides(IntArrayRef sizes, const Tensor& t, size_t spatial);
// The layout in which the device of `t` computes the pooling; `shape` is set to it.
ChannelLayout pool_layout(PoolShape& shape, const Tensor& t, size_t spatial);

}  // namespace argand::ops
