// In which layout a device does a convolution; a block of kernels/blocks.h.
#pragma once
#include "argand/kernels/blocks.h"

namespace argand {

// Whether the convolution, or a gradient of it, is done on operands with their channels last, to which they are then
// brought; `given`: they are in that layout.  Depends on nothing else.
using ConvTakesChannelsLast = bool(const cpu::ConvShape& s, ScalarType dtype, bool given);

namespace blocks {
extern Block<ConvTakesChannelsLast> conv_takes_channels_last;
}

}  // namespace argand
