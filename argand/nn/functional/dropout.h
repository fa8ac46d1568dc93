// Dropout: while training, elements (or whole channels) become zero with probability p and the others grow by 1 / (1 -
// p). The alpha forms keep mean and variance of SELU activations.  ValueError unless 0 <= p <= 1.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/dropout.h"

namespace argand::nn::functional {

Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
// Drops whole channels of [N, C, ...].
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace argand::nn::functional
