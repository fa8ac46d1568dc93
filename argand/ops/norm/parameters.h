// What the definitions of normalisations share: weights and statistics, which may be of another dtype than the input.
#pragma once
#include "argand/ops/operand.h"

namespace argand::ops {

// An optional weight or bias: of the input's dtype, or float32 beside float16 and bfloat16.  DtypeError.
void check_parameter_dtype(const char* op, const char* name, const Tensor& parameter, const Tensor& input);
// A weight, bias or statistic of one value per channel.  ShapeError, in PyTorch's words.
void check_channels(const char* op, const char* name, const Tensor& parameter, int64_t channels);
// The gradient of a result that has the input's shape and dtype.
void check_grad_out(const char* op, const Tensor& grad_out, const Tensor& input);
// Statistics that a backward gets: floating point, of these sizes.
void check_statistic(const char* op, const char* name, const Tensor& t, IntArrayRef sizes);

// Sizes and dtype of the gradient of `parameter`, which has `sizes` if it is there; no elements where not wanted.
TensorMeta parameter_gradient_meta(const Tensor& parameter, IntArrayRef sizes, const Tensor& input, bool wanted);

}  // namespace argand::ops
