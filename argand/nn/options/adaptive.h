// Options of AdaptiveLogSoftmaxWithLoss.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "argand/base/arg.h"

namespace argand::nn {

struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  ARGAND_ARG(int64_t, in_features);
  ARGAND_ARG(int64_t, n_classes);
  ARGAND_ARG(std::vector<int64_t>, cutoffs);  // where one cluster of classes ends and the next begins
  ARGAND_ARG(double, div_value) = 4.;         // by how much each cluster's projection is narrower than the one before
  ARGAND_ARG(bool, head_bias) = false;
};

}  // namespace argand::nn
