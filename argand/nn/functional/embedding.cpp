#include "argand/nn/functional/embedding.h"

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

// Scales rows of `weight` that are used and longer than max_norm down to it.
void renormalize(const Tensor& weight, const Tensor& input, double max_norm, double p) {
  constexpr double kEps = 1e-7;  // PyTorch's
  ARGAND_CHECK(ValueError, p > 0, "embedding: expected norm_type > 0, got ", p);
  const NoGradGuard no_grad;
  const Tensor used = std::get<0>(unique(input.reshape({-1})));
  if (used.numel() == 0) return;
  const Tensor rows = weight.index_select(0, used);
  const Tensor norms = rows.norm(p, {1}, true);
  weight.index_copy_(0, used.to(kLong), rows * where(norms > max_norm, max_norm / (norms + kEps), 1.0));
}

}  // namespace

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& o) {
  int64_t padding = -1;
  if (o.padding_idx()) {
    const int64_t count = weight.dim() > 0 ? weight.size(0) : 0;
    padding = *o.padding_idx();
    ARGAND_CHECK(ValueError, padding >= -count && padding < count,
                 "embedding: Padding_idx must be within num_embeddings, expected [", -count, ", ", count, "), got ",
                 padding);
    if (padding < 0) padding += count;
  }
  if (o.max_norm()) renormalize(weight, input, *o.max_norm(), o.norm_type());
  return argand::embedding(weight, input, padding, o.scale_grad_by_freq(), o.sparse());
}

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return argand::one_hot(tensor, num_classes); }

}  // namespace argand::nn::functional
