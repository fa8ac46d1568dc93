#include "argand/nn/functional/distance.h"

#include "argand/ops/functions.h"

namespace argand::nn::functional {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  return argand::cosine_similarity(x1, x2, o.dim(), o.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return argand::pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}

Tensor pdist(const Tensor& input, double p) { return argand::pdist(input, p); }

}  // namespace argand::nn::functional
