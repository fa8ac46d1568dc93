// The gradients of a convolution for its weight and its bias in one pass, for a device that has such a kernel; a block
// of kernels/blocks.h.
#pragma once
#include "argand/kernels/api/conv.h"

namespace argand {

// gw as blocks::conv_weight_grad, and gb [o] = the sum of gy over all dimensions but channels; not on the CPU.  Returns
// false, and does nothing, if the device has no such kernel for this call.
using ConvParameterGrads = bool(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw,
                                void* gb);

}  // namespace argand
