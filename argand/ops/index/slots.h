// Positions in memory that an index per element points to: what ops of such indices give to the blocks of devices.
#pragma once
#include "argand/kernels/blocks.h"
#include "argand/ops/index/element_index.h"

namespace argand::ops {

inline const int64_t* numbers_in(const Tensor& index) { return static_cast<const int64_t*>(index.impl().data()); }

// The shape of `index` as it runs through `t`, beside the index along dim.
AlongDim along(const Tensor& index, const Tensor& t, int64_t dim);

// For each element of `index`, the position in the contiguous `t` that it points to.
Tensor slots_in(const Tensor& t, const Tensor& index, int64_t dim);

}  // namespace argand::ops
