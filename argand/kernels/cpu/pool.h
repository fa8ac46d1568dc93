// kernels/api/pool.h on the CPU: planes (batch x channels) are distributed over threads.  One thread
// processes a plane, so overlapping windows add up in a fixed order.
#pragma once
#include "argand/kernels/api/pool.h"

namespace argand::cpu {

PoolsTakeChannelsLast pools_take_channels_last;
RunMaxPool max_pool;
RunMaxPoolBackward max_pool_backward;
RunAvgPool avg_pool;
RunAvgPoolBackward avg_pool_backward;
RunAdaptiveAvgPool adaptive_avg_pool;
RunAdaptiveAvgPoolBackward adaptive_avg_pool_backward;
RunAdaptiveMaxPool adaptive_max_pool;

}  // namespace argand::cpu
