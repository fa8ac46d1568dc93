#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/normalize.h"

namespace argand::nn::functional {

// input / max(p-norm of input along dim, eps): vectors of length 1.
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {});

}  // namespace argand::nn::functional
