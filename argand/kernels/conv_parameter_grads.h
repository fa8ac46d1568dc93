// The gradients of a convolution for its weight and its bias in one pass, for a device that has it; a block of
// kernels/blocks.h.
#pragma once
#include "argand/kernels/blocks.h"

namespace argand {

// gw as blocks::conv_weight_grad, and gb [o] = gy added up over all but channels; not on the CPU.  False, with nothing
// done, if the device has no such kernel for this call.
using ConvParameterGrads = bool(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw,
                                void* gb);

namespace blocks {
extern Block<ConvParameterGrads> conv_parameter_grads;
}

}  // namespace argand
