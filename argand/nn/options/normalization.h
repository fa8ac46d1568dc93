// Options of LayerNorm, GroupNorm, RMSNorm and LocalResponseNorm.
#pragma once
#include <optional>
#include <vector>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"

namespace argand::nn {

struct LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  ARGAND_ARG(std::vector<int64_t>, normalized_shape);
  ARGAND_ARG(double, eps) = 1e-5;
  ARGAND_ARG(bool, elementwise_affine) = true;
};

struct GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  ARGAND_ARG(int64_t, num_groups);
  ARGAND_ARG(int64_t, num_channels);
  ARGAND_ARG(double, eps) = 1e-5;
  ARGAND_ARG(bool, affine) = true;
};

// LibTorch has no RMSNorm; this is torch.nn.RMSNorm in its style.
struct RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  ARGAND_ARG(std::vector<int64_t>, normalized_shape);
  ARGAND_ARG(std::optional<double>, eps) = std::nullopt;  // nothing: the machine epsilon
  ARGAND_ARG(bool, elementwise_affine) = true;
};

struct LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}
  ARGAND_ARG(int64_t, size);  // channels in a window, including the centre
  ARGAND_ARG(double, alpha) = 1e-4;
  ARGAND_ARG(double, beta) = 0.75;
  ARGAND_ARG(double, k) = 1;
};

struct CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}
  ARGAND_ARG(int64_t, size);
  ARGAND_ARG(double, alpha) = 1e-4;
  ARGAND_ARG(double, beta) = 0.75;
  ARGAND_ARG(int64_t, k) = 1;
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;

struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  ARGAND_ARG(std::vector<int64_t>, normalized_shape);
  ARGAND_ARG(Tensor, weight);
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(double, eps) = 1e-5;
};

struct GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  ARGAND_ARG(int64_t, num_groups);
  ARGAND_ARG(Tensor, weight);
  ARGAND_ARG(Tensor, bias);
  ARGAND_ARG(double, eps) = 1e-5;
};

struct RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  ARGAND_ARG(std::vector<int64_t>, normalized_shape);
  ARGAND_ARG(Tensor, weight);
  ARGAND_ARG(std::optional<double>, eps) = std::nullopt;
};

}  // namespace functional
}  // namespace argand::nn
