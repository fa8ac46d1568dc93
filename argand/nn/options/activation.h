// Options of the activations.
#pragma once
#include <optional>
#include <string>

#include "argand/base/arg.h"
#include "argand/core/dtype.h"

namespace argand::nn {

struct ELUOptions {
  ARGAND_ARG(double, alpha) = 1.0;
  ARGAND_ARG(bool, inplace) = false;
};
struct SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  ARGAND_ARG(bool, inplace);
};
struct CELUOptions {
  ARGAND_ARG(double, alpha) = 1.0;
  ARGAND_ARG(bool, inplace) = false;
};
struct GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
};
struct GELUOptions {
  ARGAND_ARG(std::string, approximate) = "none";  // or "tanh"
};
struct HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  ARGAND_ARG(double, lambda);
};
struct SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  ARGAND_ARG(double, lambda);
};
struct HardtanhOptions {
  ARGAND_ARG(double, min_val) = -1.0;
  ARGAND_ARG(double, max_val) = 1.0;
  ARGAND_ARG(bool, inplace) = false;
};
struct LeakyReLUOptions {
  ARGAND_ARG(double, negative_slope) = 1e-2;
  ARGAND_ARG(bool, inplace) = false;
};
struct PReLUOptions {
  ARGAND_ARG(int64_t, num_parameters) = 1;
  ARGAND_ARG(double, init) = 0.25;
};
struct ReLUOptions {
  ReLUOptions(bool inplace = false) : inplace_(inplace) {}
  ARGAND_ARG(bool, inplace);
};
struct ReLU6Options {
  ReLU6Options(bool inplace = false) : inplace_(inplace) {}
  ARGAND_ARG(bool, inplace);
};
struct RReLUOptions {
  ARGAND_ARG(double, lower) = 1.0 / 8.0;  // the bounds of the random slopes below 0
  ARGAND_ARG(double, upper) = 1.0 / 3.0;
  ARGAND_ARG(bool, inplace) = false;
};
struct SoftplusOptions {
  ARGAND_ARG(double, beta) = 1.0;
  ARGAND_ARG(double, threshold) = 20.0;
};
struct ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  ARGAND_ARG(double, threshold);
  ARGAND_ARG(double, value);
  ARGAND_ARG(bool, inplace) = false;
};
struct SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
};
struct SoftminOptions {
  SoftminOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
};
struct LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
};

namespace functional {

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using CELUFuncOptions = CELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SoftplusFuncOptions = SoftplusOptions;
using ThresholdFuncOptions = ThresholdOptions;

struct RReLUFuncOptions {
  ARGAND_ARG(double, lower) = 1.0 / 8.0;
  ARGAND_ARG(double, upper) = 1.0 / 3.0;
  ARGAND_ARG(bool, training) = false;
  ARGAND_ARG(bool, inplace) = false;
};

// The input is converted to `dtype` first, if given.
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
  ARGAND_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
struct SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
  ARGAND_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
struct LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  ARGAND_ARG(int64_t, dim);
  ARGAND_ARG(std::optional<ScalarType>, dtype) = std::nullopt;
};
struct GumbelSoftmaxFuncOptions {
  ARGAND_ARG(double, tau) = 1.0;  // the temperature
  ARGAND_ARG(bool, hard) = false;
  ARGAND_ARG(int64_t, dim) = -1;
};

}  // namespace functional
}  // namespace argand::nn
