// Options of the losses.  `reduction` is kMean, kSum or kNone: one number, or one loss per element or row.
#pragma once
#include <functional>
#include <optional>
#include <variant>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/nn/enums.h"

namespace argand::nn {

using LossReduction = std::variant<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
using KLDivReduction = std::variant<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;

// Options with the reduction only, which may be given alone: L1Loss(kSum).
struct L1LossOptions {
  using reduction_t = LossReduction;
  L1LossOptions() = default;
  template <class Enum, class = std::enable_if_t<std::is_constructible_v<reduction_t, Enum>>>
  L1LossOptions(Enum reduction) : reduction_(reduction) {}
  ARGAND_ARG(reduction_t, reduction) = kMean;
};
using MSELossOptions = L1LossOptions;
using SoftMarginLossOptions = L1LossOptions;
using MultiLabelMarginLossOptions = L1LossOptions;

struct KLDivLossOptions {
  using reduction_t = KLDivReduction;
  KLDivLossOptions() = default;
  template <class Enum, class = std::enable_if_t<std::is_constructible_v<reduction_t, Enum>>>
  KLDivLossOptions(Enum reduction) : reduction_(reduction) {}
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(bool, log_target) = false;  // the target holds logarithms, too
};

struct SmoothL1LossOptions {
  using reduction_t = LossReduction;
  SmoothL1LossOptions() = default;
  template <class Enum, class = std::enable_if_t<std::is_constructible_v<reduction_t, Enum>>>
  SmoothL1LossOptions(Enum reduction) : reduction_(reduction) {}
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(std::optional<double>, beta) = std::nullopt;  // 1 if not given
};

struct HuberLossOptions {
  using reduction_t = LossReduction;
  HuberLossOptions() = default;
  template <class Enum, class = std::enable_if_t<std::is_constructible_v<reduction_t, Enum>>>
  HuberLossOptions(Enum reduction) : reduction_(reduction) {}
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(double, delta) = 1.0;
};

struct NLLLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(Tensor, weight) = {};  // one factor per class
  ARGAND_ARG(int64_t, ignore_index) = -100;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct CrossEntropyLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(Tensor, weight) = {};
  ARGAND_ARG(int64_t, ignore_index) = -100;
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(double, label_smoothing) = 0.0;
};

struct BCELossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(Tensor, weight) = {};  // broadcasts to the input
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct BCEWithLogitsLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(Tensor, weight) = {};
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(Tensor, pos_weight) = {};  // factor of the positive terms
};

struct HingeEmbeddingLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(double, margin) = 1.0;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct MultiMarginLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(int64_t, p) = 1;  // or 2
  ARGAND_ARG(double, margin) = 1.0;
  ARGAND_ARG(Tensor, weight) = {};
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct MultiLabelSoftMarginLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(Tensor, weight) = {};  // one factor per class
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct CosineEmbeddingLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(double, margin) = 0.0;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct MarginRankingLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(double, margin) = 0;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct TripletMarginLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(double, margin) = 1.0;
  ARGAND_ARG(double, p) = 2.0;
  ARGAND_ARG(double, eps) = 1e-6;
  ARGAND_ARG(bool, swap) = false;  // the negative is compared with the nearer of anchor and positive
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct TripletMarginWithDistanceLossOptions {
  using reduction_t = LossReduction;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  ARGAND_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;  // the 2-norm if not given
  ARGAND_ARG(double, margin) = 1.0;
  ARGAND_ARG(bool, swap) = false;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct PoissonNLLLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(bool, log_input) = true;  // the input is the logarithm of the expected count
  ARGAND_ARG(bool, full) = false;      // with Stirling's approximation of log(target!)
  ARGAND_ARG(double, eps) = 1e-8;
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct GaussianNLLLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(bool, full) = false;  // with the constant log(2 pi) / 2
  ARGAND_ARG(double, eps) = 1e-6;  // the least variance
  ARGAND_ARG(reduction_t, reduction) = kMean;
};

struct CTCLossOptions {
  using reduction_t = LossReduction;
  ARGAND_ARG(int64_t, blank) = 0;  // the class that stands for no label
  ARGAND_ARG(reduction_t, reduction) = kMean;
  ARGAND_ARG(bool, zero_infinity) = false;  // 0 instead of infinity where the input is too short for its target
};

namespace functional {

using L1LossFuncOptions = L1LossOptions;
using MSELossFuncOptions = MSELossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using GaussianNLLLossFuncOptions = GaussianNLLLossOptions;
using CTCLossFuncOptions = CTCLossOptions;

}  // namespace functional
}  // namespace argand::nn
