// Which work a device does on channels-last tensors; blocks of kernels/blocks.h.
#pragma once
#include "argand/kernels/blocks.h"

namespace argand {

// Whether the convolution, or a gradient of it, runs on channels-last operands; the caller then converts them.
// `given`: they have that layout already.  It depends on nothing else.
using ConvTakesChannelsLast = bool(const cpu::ConvShape& s, ScalarType dtype, bool given);
// Whether pooling reads such a tensor in its channels-last layout.
using PoolsTakeChannelsLast = bool(const cpu::PoolShape& s);

namespace blocks {
extern Block<ConvTakesChannelsLast> conv_takes_channels_last;
extern Block<PoolsTakeChannelsLast> pools_take_channels_last;
}  // namespace blocks

}  // namespace argand
