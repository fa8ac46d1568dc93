// Distances and angles between vectors of two tensors, which broadcast.
#pragma once
#include "argand/core/tensor.h"
#include "argand/nn/options/distance.h"

namespace argand::nn::functional {

// The cosine of the angle between x1 and x2 along dim, which the result does not have.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {});
// The p-norm of x1 - x2 + eps over the last dimension.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {});
// The p-norms of the differences of all pairs of different rows of input.
Tensor pdist(const Tensor& input, double p = 2.0);

}  // namespace argand::nn::functional
