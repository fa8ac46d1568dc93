// The input of a deformable convolution as the matrix by which its weight is multiplied, and gradients:
// blocks::deform_columns, deform_input_grad and deform_place_grads.  All arrays are contiguous, of one type.
#pragma once
#include "argand/core/dtype.h"
#include "argand/kernels/deform_tap.h"

namespace argand {

struct DeformCall {
  ScalarType type;  // on the CPU float or double
  DeformShape shape;
  const void *offset, *mask;  // a null mask stands for ones
};

// columns = mask * input, at the places that the offsets say, by bilinear interpolation with zeros outside.
using RunDeformColumns = void(const DeformCall& call, const void* input, void* columns);
// grad_input = the sum of each pixel's contributions, in an order that depends on the offsets only.
using RunDeformInputGrad = void(const DeformCall& call, const void* grad_columns, void* grad_input);
// Sums over the channels of a group, in order; grad_mask may be null.
using RunDeformPlaceGrads = void(const DeformCall& call, const void* grad_columns, const void* input, void* grad_offset,
                                 void* grad_mask);

}  // namespace argand
