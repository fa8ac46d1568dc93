// The windows of an image as columns of a matrix, and back.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/fold.h"

namespace argand::nn::functional {

// Columns [N, C * kernel elements, windows] added up where their windows lie: [N, C, output_size].
Tensor fold(const Tensor& input, const FoldFuncOptions& options);
// The windows of [N, C, H, W] as columns.
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);

}  // namespace argand::nn::functional
