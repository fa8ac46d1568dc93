// nn::functions::CrossMapLRN2d: the module's computation without the module.
#pragma once
#include "argand/nn/modules/normalization.h"
#include "torch/types.h"

namespace argand::nn::functions {
struct CrossMapLRN2d {
  static Tensor apply(const Tensor& input, const CrossMapLRN2dOptions& options) {
    return CrossMapLRN2dImpl(options).forward(input);
  }
};
}  // namespace argand::nn::functions
