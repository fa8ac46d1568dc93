#pragma once
#include "argand/nn/options/batchnorm.h"

namespace argand::nn::functional {

// Normalises each channel of [N, C, ...].  In training it uses the batch's statistics, needs more than one value per
// channel, and updates running_mean and running_var (each may be undefined) in place.  Else it uses the running ones.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options = {});

}  // namespace argand::nn::functional
