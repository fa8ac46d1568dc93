// Spatial transformers (Jaderberg et al. 2015): a grid of positions, and an image sampled there.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/vision.h"

namespace argand::nn::functional {

// The positions to which matrices theta [N, 2, 3] ([N, 3, 4]) map those of an output of size [N, C, H, W] ([N, C, D, H,
// W]).
Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false);
// Samples input [N, C, H, W] ([N, C, D, H, W]) at the positions grid [N, h, w, 2] ([N, d, h, w, 3]).
Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

}  // namespace argand::nn::functional
