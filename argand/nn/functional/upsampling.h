// Images and other signals at another resolution.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/upsampling.h"

namespace argand::nn::functional {

// [N, C, spatial...] with one to three spatial dimensions, brought to `size` or grown by `scale_factor` (one number may
// stand for all dimensions).  kLinear takes one dimension, kBilinear and kBicubic two, kTrilinear three, kNearest,
// kNearestExact and kArea any.
Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

}  // namespace argand::nn::functional
