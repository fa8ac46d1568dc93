#include "argand/nn/utils/fusion.h"

#include "argand/core/grad_mode.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn::utils {

Conv2d fuse_conv_bn_eval(const Conv2d& conv, const BatchNorm2d& bn) {
  ARGAND_CHECK(ValueError, !conv->is_training() && !bn->is_training(),
               "fuse_conv_bn_eval: expected both modules in evaluation mode, call eval() first");
  ARGAND_CHECK(ValueError, bn->running_mean.defined() && bn->running_var.defined(),
               "fuse_conv_bn_eval: expected bn to track running statistics");
  const int64_t channels = conv->options.out_channels();
  ARGAND_CHECK(ShapeError, bn->options.num_features() == channels, "fuse_conv_bn_eval: expected bn of ", channels,
               " features, the channels that conv gives, got ", bn->options.num_features());
  const NoGradGuard no_grad;
  Conv2d fused(Conv2dOptions(conv->options).bias(true));
  fused->to(conv->weight.device(), conv->weight.scalar_type());
  Tensor scale = rsqrt(bn->running_var + bn->options.eps());
  if (bn->weight.defined()) scale = bn->weight * scale;
  Tensor bias = conv->bias.defined() ? conv->bias - bn->running_mean : -bn->running_mean;
  bias = bias * scale;
  if (bn->bias.defined()) bias = bias + bn->bias;
  fused->weight.copy_(conv->weight * scale.reshape({-1, 1, 1, 1}));
  fused->bias.copy_(bias);
  fused->eval();
  return fused;
}

}  // namespace argand::nn::utils
