// Options of LayerNorm, GroupNorm and RMSNorm.
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

namespace functional {

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
