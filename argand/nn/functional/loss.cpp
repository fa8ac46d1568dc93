#include "argand/nn/functional/loss.h"

#include <cmath>
#include <numbers>

#include "argand/ops/functions.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/maybe.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {
namespace {

using ops::optional;

int64_t number_of(enumtype::kNone) { return Reduction::None; }
int64_t number_of(enumtype::kMean) { return Reduction::Mean; }
int64_t number_of(enumtype::kSum) { return Reduction::Sum; }
int64_t number_of(enumtype::kBatchMean) { return Reduction::Sum; }
template <class Variant>
int64_t reduction_of(const Variant& v) {
  return std::visit([](auto e) { return number_of(e); }, v);
}

// One variance for each element, or one for all of the last dimension.
Tensor variance_for(const Tensor& input, const Tensor& var) {
  if (var.sizes() == input.sizes()) return var;
  Dims rows(input.sizes());
  ARGAND_CHECK(ShapeError, !rows.empty(), "gaussian_nll_loss: var is of incorrect size, expected [], got ",
               var.sizes());
  rows.pop_back();
  if (var.sizes() == IntArrayRef(rows)) return var.unsqueeze(-1);
  rows.push_back(1);
  ARGAND_CHECK(ShapeError, var.sizes() == IntArrayRef(rows), "gaussian_nll_loss: var is of incorrect size, expected ",
               input.sizes(), " or ", rows, ", got ", var.sizes());
  return var;
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& o) {
  return argand::l1_loss(input, target, reduction_of(o.reduction()));
}
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& o) {
  return argand::mse_loss(input, target, reduction_of(o.reduction()));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  return argand::smooth_l1_loss(input, target, reduction_of(o.reduction()), o.beta().value_or(1.0));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o, double beta) {
  ARGAND_CHECK(ValueError, !o.beta(), "smooth_l1_loss: expected beta not to be provided in 'options', but got ",
               *o.beta());
  return argand::smooth_l1_loss(input, target, reduction_of(o.reduction()), beta);
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& o) {
  return argand::huber_loss(input, target, reduction_of(o.reduction()), o.delta());
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& o) {
  return argand::nll_loss(input, target, optional(o.weight()), reduction_of(o.reduction()), o.ignore_index());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& o) {
  return argand::cross_entropy_loss(input, target, optional(o.weight()), reduction_of(o.reduction()), o.ignore_index(),
                                    o.label_smoothing());
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& o) {
  ARGAND_CHECK(ShapeError, target.sizes() == input.sizes(), "binary_cross_entropy: Using a target size (",
               target.sizes(), ") that is different to the input size (", input.sizes(),
               ") is deprecated. Please ensure they have the same size.");
  return argand::binary_cross_entropy(input, target, optional(o.weight()), reduction_of(o.reduction()));
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  return argand::binary_cross_entropy_with_logits(input, target, optional(o.weight()), optional(o.pos_weight()),
                                                  reduction_of(o.reduction()));
}
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& o) {
  const Tensor loss = argand::kl_div(input, target, reduction_of(o.reduction()), o.log_target());
  const bool by_batch = std::holds_alternative<enumtype::kBatchMean>(o.reduction()) && input.dim() > 0;
  return by_batch ? loss / input.size(0) : loss;
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& o) {
  return argand::poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), reduction_of(o.reduction()));
}
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNLLLossFuncOptions& o) {
  const Tensor given = variance_for(input, var);
  ARGAND_CHECK(ValueError, !(given.detach() < 0).any().is_nonzero(),
               "gaussian_nll_loss: var has negative entry/entries");
  // The value is no lower than eps; the gradient is that of `given`, as PyTorch's.
  const Tensor v = given + (given.clamp_min(o.eps()) - given).detach();
  Tensor losses = 0.5 * (v.log() + (input - target).square() / v);
  if (o.full()) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return ops::reduce_loss(losses, reduction_of(o.reduction()));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return argand::soft_margin_loss(input, target, reduction_of(o.reduction()));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& o) {
  return argand::hinge_embedding_loss(input, target, o.margin(), reduction_of(o.reduction()));
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o) {
  return argand::margin_ranking_loss(input1, input2, target, o.margin(), reduction_of(o.reduction()));
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o) {
  return argand::cosine_embedding_loss(input1, input2, target, o.margin(), reduction_of(o.reduction()));
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& o) {
  return argand::multi_margin_loss(input, target, o.p(), o.margin(), optional(o.weight()), reduction_of(o.reduction()));
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& o) {
  return argand::multilabel_margin_loss(input, target, reduction_of(o.reduction()));
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& o) {
  Tensor losses = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input));
  if (o.weight().defined()) losses = losses * o.weight();
  return ops::reduce_loss(losses.mean(-1), reduction_of(o.reduction()));
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o) {
  return argand::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(),
                                     reduction_of(o.reduction()));
}
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& o) {
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return o.distance_function() ? (*o.distance_function())(x, y) : argand::pairwise_distance(x, y);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (o.swap()) far = minimum(far, distance(positive, negative));
  return ops::reduce_loss((near - far + o.margin()).clamp_min(0), reduction_of(o.reduction()));
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& o) {
  return argand::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), reduction_of(o.reduction()),
                          o.zero_infinity());
}

}  // namespace argand::nn::functional
