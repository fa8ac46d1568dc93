// F::detail: functions of F with their options one by one.  Those of dropout alone.
#pragma once
#include "argand/nn/functional/dropout.h"
#include "torch/types.h"

namespace torch::nn::functional::detail {

inline Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  return functional::dropout(input, DropoutFuncOptions().p(p).training(training).inplace(inplace));
}
inline Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  return functional::alpha_dropout(input, AlphaDropoutFuncOptions().p(p).training(training).inplace(inplace));
}
inline Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  return functional::feature_alpha_dropout(input,
                                           FeatureAlphaDropoutFuncOptions().p(p).training(training).inplace(inplace));
}

}  // namespace torch::nn::functional::detail
