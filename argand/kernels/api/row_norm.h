// Layer, group and RMS normalisation: every row of a contiguous [rows, channels * inner] tensor is scaled to mean 0 and
// variance 1 (or mean square 1), then by the weights of its channels.
#pragma once
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

// Row r holds `channels` channels of `inner` elements; its weights start at (r % groups) * channels.  Layer norm has
// one group, and a channel for each element.  Arrays of weights and statistics are of the arithmetic type: float for
// float16 and bfloat16.
struct RowNormCall {
  ScalarType type;  // of elements: any floating one
  int64_t rows, groups, channels, inner;
  bool centered;       // false: RMS norm, which subtracts no mean
  const void* weight;  // [groups * channels], or null
};

// y = (x - mean) * rstd * weight + bias with rstd = 1 / sqrt(variance + eps); mean is not written if not centered.
using RunRowNorm = void(const RowNormCall& call, const void* x, const void* bias, double eps, void* y, void* mean,
                        void* rstd);

// Gradients of x, weight and bias for the gradient g of y; each may be null if it is not needed.
using RunRowNormBackward = void(const RowNormCall& call, const void* g, const void* x, const void* mean,
                                const void* rstd, void* grad_x, void* grad_weight, void* grad_bias);

}  // namespace argand
