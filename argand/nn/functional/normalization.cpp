#include "argand/nn/functional/normalization.h"

#include "argand/nn/functional/padding.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::functional {

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return argand::layer_norm(input, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return argand::group_norm(input, o.num_groups(), o.weight(), o.bias(), o.eps());
}
Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& o) {
  return argand::rms_norm(input, o.normalized_shape(), o.weight(), o.eps());
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o) {
  ARGAND_CHECK(ShapeError, input.dim() >= 3, "local_response_norm: Expected 3D or higher dimensionality input (got ",
               input.dim(), " dimensions)");
  ARGAND_CHECK(ValueError, o.size() > 0, "local_response_norm: size must be positive, got ", o.size());
  if (input.numel() == 0) return input;
  const Tensor squares = (input * input).reshape({input.sizes()[0], 1, input.sizes()[1], -1});
  const Tensor padded = pad(squares, PadFuncOptions({0, 0, o.size() / 2, (o.size() - 1) / 2}));
  const Tensor mean = avg_pool2d(padded, {o.size(), 1}, {1, 1}).reshape(input.sizes());
  return input / (mean * o.alpha() + o.k()).pow(o.beta());
}

}  // namespace argand::nn::functional
