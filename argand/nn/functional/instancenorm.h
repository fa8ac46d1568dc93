#pragma once
#include "argand/nn/options/instancenorm.h"

namespace argand::nn::functional {

// Normalises each channel of each sample of [N, C, ...] with its own statistics, which needs more than one spatial
// element.  Without use_input_stats it uses the running statistics.
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

}  // namespace argand::nn::functional
