// kernels/api/batch_norm.h on the CPU.
#pragma once
#include "argand/kernels/api/batch_norm.h"

namespace argand::cpu {

RunChannelMoments channel_moments;
RunChannelScale channel_scale;
RunChannelProducts channel_products;
RunChannelGradient channel_gradient;

}  // namespace argand::cpu
