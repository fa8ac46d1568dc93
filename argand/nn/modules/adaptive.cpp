#include "argand/nn/modules/adaptive.h"

#include <cmath>

#include "argand/nn/modules/container/sequential.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  ARGAND_CHECK(ValueError, !cutoffs.empty(), "cutoffs should be a sequence of length larger than 0");
  for (size_t i = 0; i < cutoffs.size(); ++i)
    ARGAND_CHECK(ValueError, cutoffs[i] > (i == 0 ? 0 : cutoffs[i - 1]) && cutoffs[i] <= options.n_classes() - 1,
                 "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                 "value is between 1 and n_classes-1, got ",
                 Dims(IntArrayRef(cutoffs)));
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto at = static_cast<size_t>(i);
    const auto width = static_cast<int64_t>(static_cast<double>(options.in_features()) /
                                            std::pow(options.div_value(), static_cast<double>(i + 1)));
    // One after the other: both draw.
    const Linear projection(LinearOptions(options.in_features(), width).bias(false));
    const Linear classes(LinearOptions(width, cutoffs[at + 1] - cutoffs[at]).bias(false));
    tail->push_back(Sequential(projection, classes));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (int64_t i = 0; i < n_clusters; ++i)
    for (const auto& layer : tail->at<SequentialImpl>(static_cast<size_t>(i)).children())
      layer->as<LinearImpl>()->reset_parameters();
}

Tensor AdaptiveLogSoftmaxWithLossImpl::tail_output(int64_t cluster, const Tensor& rows) {
  return tail->at<SequentialImpl>(static_cast<size_t>(cluster)).forward(rows);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  ARGAND_CHECK(ShapeError, target.dim() <= 1 && input.dim() == target.dim() + 1,
               "expected input [N, in_features] and target [N], or [in_features] and one target, got ", input.sizes(),
               " and ", target.sizes());
  if (input.dim() == 1) {
    const ASMoutput one = forward(input.unsqueeze(0), target.unsqueeze(0));
    return ASMoutput(one.output.squeeze(0), one.loss);
  }
  ARGAND_CHECK(ShapeError, input.size(0) == target.size(0),
               "Input and target should have the same size in the batch dimension, got ", input.size(0), " and ",
               target.size(0));
  if (target.numel() > 0) {
    const auto [least, most] = std::pair(target.min().item<int64_t>(), target.max().item<int64_t>());
    ARGAND_CHECK(IndexError, least >= 0 && most < options.n_classes(), "Target values should be in [0, ",
                 options.n_classes() - 1, "], but values in range [", least, ", ", most, "] were found.");
  }
  // The column of the head for each target: its class, or that of its cluster.
  Tensor column = target.to(kLong), rest = zeros({input.size(0)}, input.options());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto at = static_cast<size_t>(i);
    const Tensor inside = target.ge(cutoffs[at]).logical_and(target.lt(cutoffs[at + 1]));
    const Tensor rows = inside.nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    column = column.masked_fill(inside, shortlist_size + i);
    const Tensor within = (target.index_select(0, rows) - cutoffs[at]).to(kLong);
    const Tensor log_probs = tail_output(i, input.index_select(0, rows)).log_softmax(1);
    rest = rest.index_copy(0, rows, log_probs.gather(1, within.unsqueeze(1)).squeeze(1));
  }
  const Tensor output = head(input).log_softmax(1).gather(1, column.unsqueeze(1)).squeeze(1) + rest;
  return ASMoutput(output, (-output).mean().item<double>());
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  const Tensor of_head = head(input).log_softmax(1);
  std::vector<Tensor> parts{of_head.narrow(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i)
    parts.push_back(tail_output(i, input).log_softmax(1) + of_head.narrow(1, shortlist_size + i, 1));
  return cat(parts, 1);
}

// Rows whose likeliest column of the head is a class are done; the others need the clusters.
Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor best = head(input).argmax(1), rows = best.ge(shortlist_size).nonzero().squeeze(1);
  if (rows.numel() == 0) return best;
  return best.index_copy(0, rows, log_prob(input.index_select(0, rows)).argmax(1));
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

}  // namespace argand::nn
