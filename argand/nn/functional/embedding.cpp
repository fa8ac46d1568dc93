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

namespace {

int64_t mode_number(enumtype::kSum) { return 0; }
int64_t mode_number(enumtype::kMean) { return 1; }
int64_t mode_number(enumtype::kMax) { return 2; }

}  // namespace

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  ARGAND_CHECK(ShapeError, input.dim() == 1 || input.dim() == 2,
               "embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.dim());
  Tensor indices = input, offsets = o.offsets();
  std::optional<Tensor> weights;
  if (o.per_sample_weights().defined()) {
    ARGAND_CHECK(ShapeError, input.sizes() == o.per_sample_weights().sizes(),
                 "embedding_bag: If per_sample_weights is not None, then it must have the same shape as the input, "
                 "expected ",
                 input.sizes(), ", got ", o.per_sample_weights().sizes());
    weights = o.per_sample_weights().reshape({-1});
  }
  if (input.dim() == 2) {
    ARGAND_CHECK(ValueError, !offsets.defined(),
                 "embedding_bag: If input is 2D, then offsets has to be null, as input is treated is a mini-batch of "
                 "fixed length sequences. However, found offsets of type Tensor");
    const TensorOptions long_numbers = TensorOptions(input.device()).dtype(kLong);
    const int64_t bags = input.size(0) + (o.include_last_offset() ? 1 : 0);
    offsets = arange(bags, long_numbers) * input.size(1);
    indices = input.reshape({-1});
  } else {
    ARGAND_CHECK(ValueError, offsets.defined(), "embedding_bag: offsets has to be a 1D Tensor but got null");
  }
  if (o.max_norm()) renormalize(weight, indices, *o.max_norm(), o.norm_type());
  const int64_t mode = std::visit([](auto m) { return mode_number(m); }, o.mode());
  return std::get<0>(argand::embedding_bag(weight, indices, offsets, o.scale_grad_by_freq(), mode, o.sparse(), weights,
                                           o.include_last_offset(), o.padding_idx()));
}

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return argand::one_hot(tensor, num_classes); }

}  // namespace argand::nn::functional
