// Shared checks of normalisations: weights and statistics, whose dtype may differ from the input's.
#pragma once
#include "argand/ops/operand.h"

namespace argand::ops {

// Checks an optional weight or bias: the input's dtype, or float32 beside float16 and bfloat16.  DtypeError.
void check_parameter_dtype(const char* op, const char* name, const Tensor& parameter, const Tensor& input);
// Checks a weight, bias or statistic with one value per channel.  ShapeError, in PyTorch's words.
void check_channels(const char* op, const char* name, const Tensor& parameter, int64_t channels);
// The gradient of a result that has the input's shape and dtype.
void check_grad_out(const char* op, const Tensor& grad_out, const Tensor& input);
// Checks the statistics that a backward gets: floating point, of these sizes.
void check_statistic(const char* op, const char* name, const Tensor& t, IntArrayRef sizes);

// Sizes and dtype of the gradient of `parameter`, which has `sizes` if defined; no elements if not wanted.
TensorMeta parameter_gradient_meta(const Tensor& parameter, IntArrayRef sizes, const Tensor& input, bool wanted);

}  // namespace argand::ops
