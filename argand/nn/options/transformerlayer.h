// Options of the layers of a transformer.
#pragma once
#include <functional>
#include <variant>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/nn/enums.h"

namespace argand::nn {

using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  ARGAND_ARG(int64_t, d_model);
  ARGAND_ARG(int64_t, nhead);
  ARGAND_ARG(int64_t, dim_feedforward) = 2048;
  ARGAND_ARG(double, dropout) = 0.1;
  ARGAND_ARG(activation_t, activation) = kReLU;
  ARGAND_ARG(bool, norm_first) = false;  // normalises the input of each block instead of its residual sum
};

struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  ARGAND_ARG(int64_t, d_model);
  ARGAND_ARG(int64_t, nhead);
  ARGAND_ARG(int64_t, dim_feedforward) = 2048;
  ARGAND_ARG(double, dropout) = 0.1;
  ARGAND_ARG(activation_t, activation) = kReLU;
  ARGAND_ARG(bool, norm_first) = false;
};

}  // namespace argand::nn
