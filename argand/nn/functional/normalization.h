#pragma once
#include "argand/nn/options/normalization.h"

namespace argand::nn::functional {

// Normalises to mean 0 and variance 1 over the last dimensions, whose sizes are normalized_shape; then * weight + bias.
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
// The same over each group of C / num_groups channels of each sample of [N, C, ...].
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
// Normalises to mean square 1 over the last dimensions; then * weight.
Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
// [N, C, ...] / (k + alpha * mean square of the `size` channels around each)^beta, zeros beyond the first and last
// channel (Krizhevsky and others, 2012).  ShapeError for fewer than three dimensions.
Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);

}  // namespace argand::nn::functional
