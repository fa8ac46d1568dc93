#include "argand/nn/modules/loss.h"

#include "argand/nn/functional/loss.h"

namespace argand::nn {

namespace F = functional;

// A handle of the module's own, so that a clone that is given other data leaves the tensor in the options alone.
static Tensor own_handle(const Tensor& t) { return t.defined() ? t.detach() : t; }

#define ARGAND_LOSS(Name, function, ...)                                                                          \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "(" << __VA_ARGS__; } \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) { return F::function(input, target, options); }
ARGAND_LOSS(L1Loss, l1_loss, ")")
ARGAND_LOSS(MSELoss, mse_loss, ")")
ARGAND_LOSS(SmoothL1Loss, smooth_l1_loss, ")")
ARGAND_LOSS(HuberLoss, huber_loss, ")")
ARGAND_LOSS(KLDivLoss, kl_div, ")")
ARGAND_LOSS(PoissonNLLLoss, poisson_nll_loss, ")")
ARGAND_LOSS(SoftMarginLoss, soft_margin_loss, ")")
ARGAND_LOSS(MultiLabelMarginLoss, multilabel_margin_loss, ")")
ARGAND_LOSS(HingeEmbeddingLoss, hinge_embedding_loss, "margin=" << options.margin() << ")")
#undef ARGAND_LOSS

#define ARGAND_LOSS(Name, function, ...)                                                                          \
  void Name##Impl::reset() { weight = register_buffer("weight", own_handle(options.weight())); }                  \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "(" << __VA_ARGS__; } \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {                                         \
    return F::function(input, target, Name##Options(options).weight(weight));                                     \
  }
ARGAND_LOSS(NLLLoss, nll_loss, ")")
ARGAND_LOSS(CrossEntropyLoss, cross_entropy, ")")
ARGAND_LOSS(BCELoss, binary_cross_entropy, ")")
ARGAND_LOSS(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss, ")")
ARGAND_LOSS(MultiMarginLoss, multi_margin_loss, "p=" << options.p() << ", margin=" << options.margin() << ")")
#undef ARGAND_LOSS

void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", own_handle(options.weight()));
  pos_weight = register_buffer("pos_weight", own_handle(options.pos_weight()));
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::BCEWithLogitsLoss()"; }
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return F::binary_cross_entropy_with_logits(input, target,
                                             BCEWithLogitsLossOptions(options).weight(weight).pos_weight(pos_weight));
}

#define ARGAND_LOSS(Name, function, ...)                                                                          \
  void Name##Impl::pretty_print(std::ostream& stream) const { stream << "torch::nn::" #Name "(" << __VA_ARGS__; } \
  Tensor Name##Impl::forward(const Tensor& first, const Tensor& second, const Tensor& third) {                    \
    return F::function(first, second, third, options);                                                            \
  }
ARGAND_LOSS(MarginRankingLoss, margin_ranking_loss, ")")
ARGAND_LOSS(CosineEmbeddingLoss, cosine_embedding_loss, "margin=" << options.margin() << ")")
ARGAND_LOSS(TripletMarginLoss, triplet_margin_loss,
            "margin=" << options.margin() << ", p=" << options.p() << ", eps=" << options.eps()
                      << ", swap=" << std::boolalpha << options.swap() << ")")
ARGAND_LOSS(TripletMarginWithDistanceLoss, triplet_margin_with_distance_loss,
            "margin=" << options.margin() << ", swap=" << std::boolalpha << options.swap() << ")")
ARGAND_LOSS(GaussianNLLLoss, gaussian_nll_loss, ")")
#undef ARGAND_LOSS

void CTCLossImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::CTCLoss()"; }
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options);
}

}  // namespace argand::nn
