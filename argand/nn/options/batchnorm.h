// Options of BatchNorm.
#pragma once
#include <optional>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn {

struct BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  ARGAND_ARG(int64_t, num_features);
  ARGAND_ARG(double, eps) = 1e-5;
  ARGAND_ARG(std::optional<double>, momentum) = 0.1;  // nothing: running statistics are averages over all batches
  ARGAND_ARG(bool, affine) = true;
  ARGAND_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

namespace functional {

struct BatchNormFuncOptions {
  ARGAND_ARG(Tensor, weight);
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(bool, training) = false;
  ARGAND_ARG(double, momentum) = 0.1;
  ARGAND_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace argand::nn
