// Pooling over the last 1, 2 or 3 dimensions of [N, C, spatial] or [C, spatial].  The forms with indices give, beside
// each maximum, its place in the flattened spatial dimensions of its plane.
#pragma once
#include <tuple>

#include "argand/core/tensor.h"
#include "argand/nn/options/pooling.h"

namespace argand::nn::functional {

#define ARGAND_POOL(N)                                                                                  \
  Tensor avg_pool##N##d(const Tensor& input, const AvgPool##N##dFuncOptions& options);                  \
  Tensor max_pool##N##d(const Tensor& input, const MaxPool##N##dFuncOptions& options);                  \
  std::tuple<Tensor, Tensor> max_pool##N##d_with_indices(const Tensor& input,                           \
                                                         const MaxPool##N##dFuncOptions& options);      \
  Tensor lp_pool##N##d(const Tensor& input, const LPPool##N##dFuncOptions& options);                    \
  Tensor adaptive_avg_pool##N##d(const Tensor& input, const AdaptiveAvgPool##N##dFuncOptions& options); \
  Tensor adaptive_max_pool##N##d(const Tensor& input, const AdaptiveMaxPool##N##dFuncOptions& options); \
  std::tuple<Tensor, Tensor> adaptive_max_pool##N##d_with_indices(const Tensor& input,                  \
                                                                  const AdaptiveMaxPool##N##dFuncOptions& options);
ARGAND_POOL(1)
ARGAND_POOL(2)
ARGAND_POOL(3)
#undef ARGAND_POOL

}  // namespace argand::nn::functional
