#include "argand/nn/functional/normalization.h"

#include "argand/ops/functions.h"

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

}  // namespace argand::nn::functional
