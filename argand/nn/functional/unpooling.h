// Max unpooling, and fractional max pooling ("Fractional Max-Pooling", Graham 2014).
#pragma once
#include <tuple>

#include "argand/nn/options/unpooling.h"

namespace argand::nn::functional {

// Maxima [N, C, spatial] (N may be missing) at the positions that max_pool_with_indices gave, zeros elsewhere.
// ValueError for an output_size that such a pooling cannot have had as its input.
Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& options);
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& options);
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& options);

// The maxima of windows at random places, and their positions in each plane.
std::tuple<Tensor, Tensor> fractional_max_pool2d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool2dFuncOptions& options);
std::tuple<Tensor, Tensor> fractional_max_pool3d_with_indices(const Tensor& input,
                                                              const FractionalMaxPool3dFuncOptions& options);
Tensor fractional_max_pool2d(const Tensor& input, const FractionalMaxPool2dFuncOptions& options);
Tensor fractional_max_pool3d(const Tensor& input, const FractionalMaxPool3dFuncOptions& options);

}  // namespace argand::nn::functional
