// What a device does with the channels last; blocks of kernels/blocks.h.
#pragma once
#include "argand/kernels/blocks.h"

namespace argand {

// Whether the convolution, or a gradient of it, is done on operands with their channels last, to which they are then
// brought; `given`: they are in that layout.  Depends on nothing else.
using ConvTakesChannelsLast = bool(const cpu::ConvShape& s, ScalarType dtype, bool given);
// Whether poolings of such a tensor are done as it lies.
using PoolsTakeChannelsLast = bool(const cpu::PoolShape& s);

namespace blocks {
extern Block<ConvTakesChannelsLast> conv_takes_channels_last;
extern Block<PoolsTakeChannelsLast> pools_take_channels_last;
}  // namespace blocks

}  // namespace argand
