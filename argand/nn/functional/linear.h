#pragma once
#include "argand/core/tensor.h"

namespace argand::nn::functional {

// input weight^T + bias: [..., in], [out, in] -> [..., out].
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
// out[o] = input1^T weight[o] input2 + bias[o]: [..., in1], [..., in2], [out, in1, in2] -> [..., out].
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});

}  // namespace argand::nn::functional
