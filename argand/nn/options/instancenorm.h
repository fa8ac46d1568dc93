// Options of InstanceNorm.
#pragma once
#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn {

struct InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  ARGAND_ARG(int64_t, num_features);
  ARGAND_ARG(double, eps) = 1e-5;
  ARGAND_ARG(double, momentum) = 0.1;
  ARGAND_ARG(bool, affine) = false;
  ARGAND_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional {

struct InstanceNormFuncOptions {
  ARGAND_ARG(Tensor, running_mean);
  ARGAND_ARG(Tensor, running_var);
  ARGAND_ARG(Tensor, weight);
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(bool, use_input_stats) = true;
  ARGAND_ARG(double, momentum) = 0.1;
  ARGAND_ARG(double, eps) = 1e-5;
};

}  // namespace functional
}  // namespace argand::nn
