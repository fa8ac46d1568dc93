// Losses as modules; what each computes stands in functional/loss.h.  Weights are buffers: they move with the module.
#pragma once
#include "argand/nn/options/loss.h"
#include "argand/nn/pimpl.h"

namespace argand::nn {

// Losses of an input and a target.
#define ARGAND_LOSS(Name)                                                          \
  class Name##Impl : public Cloneable<Name##Impl> {                                \
   public:                                                                         \
    explicit Name##Impl(const Name##Options& options_ = {}) : options(options_) {} \
    void reset() override {}                                                       \
    void pretty_print(std::ostream& stream) const override;                        \
    Tensor forward(const Tensor& input, const Tensor& target);                     \
    Name##Options options;                                                         \
  };                                                                               \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_LOSS(L1Loss);
ARGAND_LOSS(MSELoss);
ARGAND_LOSS(SmoothL1Loss);
ARGAND_LOSS(HuberLoss);
ARGAND_LOSS(KLDivLoss);
ARGAND_LOSS(PoissonNLLLoss);
ARGAND_LOSS(SoftMarginLoss);
ARGAND_LOSS(MultiLabelMarginLoss);
ARGAND_LOSS(HingeEmbeddingLoss);
#undef ARGAND_LOSS

// With a weight, which may be undefined.
#define ARGAND_LOSS(Name)                                                                    \
  class Name##Impl : public Cloneable<Name##Impl> {                                          \
   public:                                                                                   \
    explicit Name##Impl(const Name##Options& options_ = {}) : options(options_) { reset(); } \
    void reset() override;                                                                   \
    void pretty_print(std::ostream& stream) const override;                                  \
    Tensor forward(const Tensor& input, const Tensor& target);                               \
    Name##Options options;                                                                   \
    Tensor weight;                                                                           \
  };                                                                                         \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_LOSS(NLLLoss);
ARGAND_LOSS(CrossEntropyLoss);
ARGAND_LOSS(BCELoss);
ARGAND_LOSS(MultiMarginLoss);
ARGAND_LOSS(MultiLabelSoftMarginLoss);
#undef ARGAND_LOSS

class BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(const BCEWithLogitsLossOptions& options_ = {}) : options(options_) { reset(); }
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& target);
  BCEWithLogitsLossOptions options;
  Tensor weight, pos_weight;  // or undefined
};
ARGAND_LIBRARY_MODULE(BCEWithLogitsLoss);

// Losses of three tensors.
#define ARGAND_LOSS(Name, first, second, third)                                     \
  class Name##Impl : public Cloneable<Name##Impl> {                                 \
   public:                                                                          \
    explicit Name##Impl(const Name##Options& options_ = {}) : options(options_) {}  \
    void reset() override {}                                                        \
    void pretty_print(std::ostream& stream) const override;                         \
    Tensor forward(const Tensor& first, const Tensor& second, const Tensor& third); \
    Name##Options options;                                                          \
  };                                                                                \
  ARGAND_LIBRARY_MODULE(Name)
ARGAND_LOSS(MarginRankingLoss, input1, input2, target);
ARGAND_LOSS(CosineEmbeddingLoss, input1, input2, target);
ARGAND_LOSS(TripletMarginLoss, anchor, positive, negative);
ARGAND_LOSS(TripletMarginWithDistanceLoss, anchor, positive, negative);
ARGAND_LOSS(GaussianNLLLoss, input, target, var);
#undef ARGAND_LOSS

class CTCLossImpl : public Cloneable<CTCLossImpl> {
 public:
  explicit CTCLossImpl(const CTCLossOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths);
  CTCLossOptions options;
};
ARGAND_LIBRARY_MODULE(CTCLoss);

}  // namespace argand::nn
