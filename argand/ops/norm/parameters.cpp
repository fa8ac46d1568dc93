#include "argand/ops/norm/parameters.h"

namespace argand::ops {

void check_parameter_dtype(const char* op, const char* name, const Tensor& parameter, const Tensor& input) {
  if (!parameter.defined() || parameter.dtype() == input.dtype()) return;
  const ScalarType wide = op_math_type(input.dtype());
  ARGAND_CHECK(DtypeError, parameter.dtype() == wide, op, ": expected ", name, " of dtype ", input.dtype(),
               wide == input.dtype() ? "" : " or float32", " for an input of ", input.dtype(), ", got ",
               parameter.dtype());
}

void check_channels(const char* op, const char* name, const Tensor& parameter, int64_t channels) {
  if (!parameter.defined()) return;
  ARGAND_CHECK(ShapeError, parameter.numel() == channels, op, ": ", name, " should contain ", channels,
               " elements not ", parameter.numel());
  ARGAND_CHECK(ShapeError, parameter.dim() == 1, op, ": expected ", name, " of one dimension, got ", parameter.sizes());
  ARGAND_CHECK(DtypeError, is_floating_point(parameter.dtype()), op, ": expected ", name,
               " of a floating-point dtype, got ", parameter.dtype());
}

void check_grad_out(const char* op, const Tensor& grad_out, const Tensor& input) {
  ARGAND_CHECK(ShapeError, grad_out.sizes() == input.sizes(), op, ": expected grad_out of shape ", input.sizes(),
               ", got ", grad_out.sizes());
  ARGAND_CHECK(DtypeError, grad_out.dtype() == input.dtype(), op, ": expected grad_out of dtype ", input.dtype(),
               ", got ", grad_out.dtype());
}

void check_statistic(const char* op, const char* name, const Tensor& t, IntArrayRef sizes) {
  ARGAND_CHECK(ShapeError, t.sizes() == sizes, op, ": expected ", name, " of shape ", sizes, ", got ", t.sizes());
  ARGAND_CHECK(DtypeError, is_floating_point(t.dtype()), op, ": expected ", name, " of a floating-point dtype, got ",
               t.dtype());
}

TensorMeta parameter_gradient_meta(const Tensor& parameter, IntArrayRef sizes, const Tensor& input, bool wanted) {
  return {wanted ? Dims(sizes) : Dims{0}, parameter.defined() ? parameter.dtype() : input.dtype()};
}

}  // namespace argand::ops
