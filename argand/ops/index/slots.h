// Positions in memory that an index per element points to: what ops of such indices give to the blocks of devices.
#pragma once
#include "argand/kernels/blocks.h"
#include "argand/ops/index/element_index.h"

namespace argand::ops {

// The shape by which the blocks of kernels/api/along_dim.h walk through the elements of `index` and of the contiguous
// `t`.
AlongDim along(const Tensor& index, const Tensor& t, int64_t dim);

// For each element of `index`, the position in the contiguous `t` that it points to.
Tensor slots_in(const Tensor& t, const Tensor& index, int64_t dim);

}  // namespace argand::ops
